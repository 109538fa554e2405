internal import HTTPTypes
public import Hummingbird
public import Telemetry

/// Looks on while others answer: counts requests, takes their time, and writes them down.
public struct ObservedResponder<Base: HTTPResponder<APIContext>>: HTTPResponder {
    public typealias Context = APIContext

    private let base: Base
    private let statistics: RequestStatistics
    private let bodyLimitBytes: Int
    private let routes: [Route]
    private let log: (@Sendable (RequestRecord) -> Void)?

    /// - Parameters:
    ///   - base: what is to be observed, with all that stands before the routes
    ///   - log: is given every request; nil where nobody writes them down
    public init(_ base: Base, of api: API, log: (@Sendable (RequestRecord) -> Void)? = nil) {
        self.base = base
        self.log = log
        routes = api.routes
        statistics = RequestStatistics(routes: api.routes)
        bodyLimitBytes = api.settings.bodyLimitBytes
    }

    public var metrics: [Metric] { statistics.metrics }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        let stopwatch = Stopwatch()
        statistics.begin()
        var answer: (status: Int, bytes: Int) = (HTTPResponse.Status.internalServerError.code, 0)
        defer {
            let nanoseconds = stopwatch.nanoseconds
            statistics.end(
                route: context.route.index, status: answer.status, nanoseconds: nanoseconds, received: announcedBytes(request),
                sent: answer.bytes)
            log?(
                RequestRecord(
                    requestID: request.requestID(context), traceID: request.traceID, method: request.method.rawValue,
                    route: context.route.index.map { routes[$0].path } ?? "-", status: answer.status, nanoseconds: nanoseconds,
                    bytes: answer.bytes, clientAddress: context.clientAddress))
        }
        let response = try await base.respond(to: request, context: context)
        answer = (response.status.code, response.body.contentLength ?? 0)
        return response
    }

    /// Of the body, as far as it is read. Those who only read are not asked, as almost all do.
    private func announcedBytes(_ request: Request) -> Int {
        guard request.method != .get, request.method != .head else { return 0 }
        return request.headers[.contentLength].flatMap(Int.init).map { min(max($0, 0), bodyLimitBytes) } ?? 0
    }
}

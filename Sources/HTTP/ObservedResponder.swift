internal import HTTPTypes
public import Hummingbird
public import Telemetry

/// Looks on while others answer: counts requests and takes their time.
public struct ObservedResponder<Base: HTTPResponder<APIContext>>: HTTPResponder {
    public typealias Context = APIContext

    private let base: Base
    private let statistics: RequestStatistics
    private let bodyLimitBytes: Int

    /// - Parameter base: what is to be observed, with all that stands before the routes
    public init(_ base: Base, of api: API) {
        self.base = base
        statistics = RequestStatistics(routes: api.routes)
        bodyLimitBytes = api.settings.bodyLimitBytes
    }

    public var metrics: [Metric] { statistics.metrics }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        let stopwatch = Stopwatch()
        statistics.begin()
        var answer: (status: Int, bytes: Int) = (HTTPResponse.Status.internalServerError.code, 0)
        defer {
            statistics.end(
                route: context.route.index, status: answer.status, nanoseconds: stopwatch.nanoseconds,
                received: announcedBytes(request), sent: answer.bytes)
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

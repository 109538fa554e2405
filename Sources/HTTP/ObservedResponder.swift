internal import HTTPTypes
public import Hummingbird
public import Telemetry
public import Tracing

/// Looks on while others answer: counts requests, takes their time, traces them and writes them down.
public struct ObservedResponder<Base: HTTPResponder<APIContext>>: HTTPResponder {
    public typealias Context = APIContext

    private let base: Base
    private let statistics: RequestStatistics
    private let routes: [Route]
    private let bodyLimitBytes: Int
    private let tracing: RequestTracing?
    private let log: (@Sendable (RequestRecord) -> Void)?

    /// - Parameters:
    ///   - base: what is to be observed, with all that stands before the routes
    ///   - tracer: makes a span of every request; nil: nobody traces
    ///   - log: is given every request; nil where nobody writes them down
    public init(_ base: Base, of api: API, tracer: (any Tracer)? = nil, log: (@Sendable (RequestRecord) -> Void)? = nil) {
        self.base = base
        self.log = log
        tracing = tracer.map(RequestTracing.init)
        routes = api.routes
        bodyLimitBytes = api.settings.bodyLimitBytes
        statistics = RequestStatistics(routes: api.routes)
    }

    public var metrics: [Metric] { statistics.metrics }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        let stopwatch = Stopwatch()
        statistics.begin()
        var context = context
        var answer: (status: Int, bytes: Int) = (HTTPResponse.Status.internalServerError.code, 0)
        defer { end(request, context, answer, nanoseconds: stopwatch.nanoseconds) }
        let response: Response
        if let tracing {
            let span = tracing.begin(request, &context)
            response = try await tracing.trace(span) { [context] in try await base.respond(to: request, context: context) }
            tracing.end(span, route: template(context), response)
        } else {
            response = try await base.respond(to: request, context: context)
        }
        answer = (response.status.code, response.body.contentLength ?? 0)
        return response
    }

    private func end(_ request: Request, _ context: APIContext, _ answer: (status: Int, bytes: Int), nanoseconds: Int) {
        statistics.end(
            route: context.route.index, status: answer.status, nanoseconds: nanoseconds, received: announcedBytes(request),
            sent: answer.bytes)
        log?(
            RequestRecord(
                requestID: request.requestID(context), traceID: request.traceID(context), method: request.method.rawValue,
                route: template(context) ?? "-", status: answer.status, nanoseconds: nanoseconds, bytes: answer.bytes,
                clientAddress: context.clientAddress))
    }

    /// Of the body, as far as it is read. Those who only read are not asked, as almost all do.
    private func announcedBytes(_ request: Request) -> Int {
        guard request.method != .get, request.method != .head else { return 0 }
        return request.headers[.contentLength].flatMap(Int.init).map { min(max($0, 0), bodyLimitBytes) } ?? 0
    }

    private func template(_ context: APIContext) -> String? { context.route.index.map { routes[$0].path } }
}

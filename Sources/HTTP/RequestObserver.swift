internal import HTTPTypes
internal import Hummingbird
internal import Telemetry
internal import Tracing

/// Looks on while requests are answered: counts them, takes their time, traces them and writes them down.
struct RequestObserver: Sendable {
    private let statistics: RequestStatistics
    private let routes: [Route]
    private let bodyLimitBytes: Int
    private let tracing: RequestTracing?
    private let log: (@Sendable (RequestRecord) -> Void)?

    init(routes: [Route], bodyLimitBytes: Int, tracing: RequestTracing?, log: (@Sendable (RequestRecord) -> Void)?) {
        self.routes = routes
        self.bodyLimitBytes = bodyLimitBytes
        self.tracing = tracing
        self.log = log
        statistics = RequestStatistics(routes: routes)
    }

    var metrics: [Metric] { statistics.metrics }

    /// - Returns: nil where nobody traces
    func begin(_ request: Request, _ exchange: inout Exchange) -> (any Span)? {
        statistics.begin()
        return tracing?.begin(request, &exchange, route: template(exchange))
    }

    func end(_ request: Request, _ exchange: Exchange, _ span: (any Span)?, _ answer: Answer) {
        if let span { tracing?.end(span, answer) }
        let nanoseconds = exchange.stopwatch.nanoseconds
        statistics.end(
            route: exchange.route?.index, status: answer.status.code, nanoseconds: nanoseconds, received: announcedBytes(request),
            sent: answer.body.readableBytes)
        log?(
            RequestRecord(
                requestID: exchange.requestID, traceID: request.traceID(exchange), method: request.method.rawValue,
                route: template(exchange) ?? "-", status: answer.status.code, nanoseconds: nanoseconds,
                bytes: answer.body.readableBytes,
                clientAddress: exchange.arrival.client(request.headers).address.map { "\($0)" }))
    }

    /// Of the body, as far as it is read. Those who only read are not asked, as almost all do.
    private func announcedBytes(_ request: Request) -> Int {
        guard request.method != .get, request.method != .head else { return 0 }
        return request.headers.value(of: .contentLength).flatMap(Int.init).map { min(max($0, 0), bodyLimitBytes) } ?? 0
    }

    private func template(_ exchange: Exchange) -> String? { exchange.route.map { routes[$0.index].path } }
}

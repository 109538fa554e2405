internal import HTTPTypes
internal import NIOCore
public import Telemetry

/// Counts requests by route and status, and measures their duration. Counting a request takes five atomic additions.
public final class RequestMetrics: RequestObserver {
    private static let statuses = 100...599

    private struct Counters: Sendable {
        let statuses = Counter(count: RequestMetrics.statuses.count)
        let seconds = Histogram.seconds()
        let bytes = Counter(count: 2)
    }

    private let prefix: String
    private let routes: [Route]
    private let bodyLimitBytes: Int
    /// The counters of each route, and then the counter of requests without a route.
    private let counters: [Counters]
    private let begun = Counter(count: 1)

    /// - Parameters:
    ///   - prefix: of the names of the metrics: `tea` makes `tea_http_requests_total`
    ///   - routes: the list that the router has, in the same order
    ///   - bodyLimitBytes: the maximum that is counted for one request, whatever it announces
    public init(prefix: String, routes: [Route], bodyLimitBytes: Int) {
        self.prefix = prefix
        self.routes = routes
        self.bodyLimitBytes = bodyLimitBytes
        counters = (0...routes.count).map { _ in Counters() }
    }

    public func requestBegan(_ request: Request, _ context: RequestContext) { begun.add(at: 0) }

    public func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response) {
        let counters = counters[context.route?.index ?? routes.count]
        counters.seconds.record(context.stopwatch.nanoseconds)
        let received = announcedBytes(request)
        if received > 0 { counters.bytes.add(received, at: 0) }
        counters.bytes.add(response.body.readableBytes, at: 1)
        // Last: a request that has begun and is not counted here is in flight.
        let status = min(max(response.status.code, Self.statuses.lowerBound), Self.statuses.upperBound)
        counters.statuses.add(at: status - Self.statuses.lowerBound)
    }

    /// The bytes of the request's body, as announced. GET and HEAD have none.
    private func announcedBytes(_ request: Request) -> Int {
        guard request.method != .get, request.method != .head else { return 0 }
        return request.headers.value(of: .contentLength).flatMap(Int.init).map { min(max($0, 0), bodyLimitBytes) } ?? 0
    }

    public var metrics: [Metric] {
        let served = zip(routes.map { ($0.path, $0.method.rawValue) } + [("unknown", "unknown")], counters)
        let answers = served.flatMap { route, counters in
            Self.statuses.map { (route, $0, counters.statuses[$0 - Self.statuses.lowerBound]) }.filter { $0.2 > 0 }
        }
        // Read after the ended requests, so that it is not less.
        let inFlight = begun[0] - answers.reduce(0) { $0 + $1.2 }
        return [
            .counter(
                "\(prefix)_http_requests_total", "Requests with a response, by route and status.",
                answers.map { route, status, count in
                    (["route": route.0, "method": route.1, "status": String(status)], Double(count))
                }),
            .histogram(
                "\(prefix)_http_request_duration_seconds", "From the head of a request until its response is ready to be sent.",
                served.map { route, counters in (["route": route.0, "method": route.1], counters.seconds.snapshot) }),
            .counter(
                "\(prefix)_http_request_bytes_total", "Bytes of the bodies of requests, as announced.",
                served.map { route, counters in (["route": route.0, "method": route.1], Double(counters.bytes[0])) }),
            .counter(
                "\(prefix)_http_response_bytes_total", "Bytes of the bodies of responses, as sent.",
                served.map { route, counters in (["route": route.0, "method": route.1], Double(counters.bytes[1])) }),
            .gauge("\(prefix)_http_requests_in_flight", "Requests without a response yet.", Double(max(inFlight, 0))),
        ]
    }
}

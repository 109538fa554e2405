internal import HTTPTypes
internal import Telemetry

/// What became of the requests, by route. Counting one is five additions to atomics.
final class RequestStatistics: Sendable {
    private static let statuses = 100...599

    private struct Counters: Sendable {
        let statuses = Tally(count: RequestStatistics.statuses.count)
        let seconds = Histogram.seconds()
        let bytes = Tally(count: 2)
    }

    private let routes: [Route]
    /// Of each route, then of requests that found none.
    private let counters: [Counters]
    private let begun = Tally(count: 1)

    init(routes: [Route]) {
        self.routes = routes
        counters = (0...routes.count).map { _ in Counters() }
    }

    func begin() { begun.add(at: 0) }

    /// - Parameters:
    ///   - route: its index; nil where there was none
    ///   - received: bytes of the body, as the client has announced them
    func end(route: Int?, status: Int, nanoseconds: Int, received: Int, sent: Int) {
        let counters = counters[route ?? routes.count]
        counters.seconds.record(nanoseconds)
        if received > 0 { counters.bytes.add(received, at: 0) }
        counters.bytes.add(sent, at: 1)
        // Last, since what has begun and is not counted here is in flight.
        counters.statuses.add(at: min(max(status, Self.statuses.lowerBound), Self.statuses.upperBound) - Self.statuses.lowerBound)
    }

    var metrics: [Metric] {
        let served = zip(routes.map { ($0.path, $0.method.rawValue) } + [("unknown", "unknown")], counters)
        let answers = served.flatMap { route, counters in
            Self.statuses.map { (route, $0, counters.statuses[$0 - Self.statuses.lowerBound]) }.filter { $0.2 > 0 }
        }
        // Read later than what has ended, so that it is not less.
        let inFlight = begun[0] - answers.reduce(0) { $0 + $1.2 }
        return [
            .counter(
                "humon_http_requests_total", "Requests answered, by route and status.",
                answers.map { route, status, count in
                    (["route": route.0, "method": route.1, "status": String(status)], Double(count))
                }),
            .histogram(
                "humon_http_request_duration_seconds", "From the head of a request to its answer, ready to be sent.",
                served.map { route, counters in (["route": route.0, "method": route.1], counters.seconds.distribution) }),
            .counter(
                "humon_http_request_bytes_total", "Bytes of the bodies of requests, as announced.",
                served.map { route, counters in (["route": route.0, "method": route.1], Double(counters.bytes[0])) }),
            .counter(
                "humon_http_response_bytes_total", "Bytes of the bodies of answers, as sent.",
                served.map { route, counters in (["route": route.0, "method": route.1], Double(counters.bytes[1])) }),
            .gauge("humon_http_requests_in_flight", "Requests that are not answered yet.", Double(max(inFlight, 0))),
        ]
    }
}

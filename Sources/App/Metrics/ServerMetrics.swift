internal import HTTPServer
internal import Telemetry

extension ServerConfiguration {
    /// The metrics of refused requests and of buffered bytes.
    var metrics: [Metric] {
        [
            .counter(
                "humon_http_requests_shed_total", "Requests refused at once with 503, since too many were under way.",
                Double(inFlight.refusals)),
            .gauge(
                "humon_http_buffered_bytes", "Bytes of responses that clients have not read, and of request bodies that arrive.",
                Double(budget.usedBytes)),
            .gauge("humon_http_buffer_limit_bytes", "Bytes that they may take.", Double(budget.limitBytes)),
            .counter(
                "humon_http_buffer_refusals_total", "Requests refused with 503 because those bytes were in use.",
                Double(budget.refusals)),
            .counter(
                "humon_http_slow_readers_closed_total",
                "Connections closed because their client read nothing while those bytes ran short.",
                Double(budget.closedConnections)),
        ]
    }
}

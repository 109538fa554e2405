internal import HTTPServer
internal import Telemetry

extension ServerConfiguration {
    /// The metrics of refused requests and of buffered bytes.
    var metrics: [Metric] {
        [
            .counter(
                "humon_http_requests_shed_total", "Requests refused immediately with 503, because too many were in flight.",
                Double(inFlight.refusals)),
            .gauge(
                "humon_http_buffered_bytes", "Bytes of responses that clients have not read, and of arriving request bodies.",
                Double(budget.usedBytes)),
            .gauge("humon_http_buffer_limit_bytes", "Maximum number of buffered bytes.", Double(budget.limitBytes)),
            .counter(
                "humon_http_buffer_refusals_total", "Requests refused with 503 because the buffers were full.",
                Double(budget.refusals)),
            .counter(
                "humon_http_slow_readers_closed_total",
                "Connections closed because the client read no bytes while the buffers were nearly full.",
                Double(budget.closedConnections)),
        ]
    }
}

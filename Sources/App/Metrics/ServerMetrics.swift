internal import HTTPServer
internal import Telemetry

extension ServerConfiguration {
    /// The metrics of refused requests, of buffered bytes and of streams.
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
            .counter(
                "humon_http_accept_failures_total",
                "Connections that could not be accepted, because too many files were open or memory was short; the next attempt follows after a second.",
                Double(acceptFailures.total)),
            .gauge("humon_http_streams", "Open streams.", Double(streams.count)),
            .gauge("humon_http_streams_limit", "Maximum number of open streams.", Double(streams.limits.total)),
            .counter(
                "humon_http_streams_refused_total",
                "Streams refused: too many were open or were opened by one client, or the node drains.",
                Double(streams.refusals)),
            .counter(
                "humon_http_streams_ended_total",
                "Streams that ended: finished by the node, such as after a reset, left by the client, cut off because the client read too slowly, ended by a drain, or broken off by a failure.",
                StreamEnd.allCases.map { (["reason": "\($0)"], Double(streams[$0])) }),
        ]
    }
}

extension LogSink {
    var metrics: [Metric] {
        [
            .counter(
                "humon_log_lines_dropped_total",
                "Lines of the log that could not be written: the reader is too slow or gone, or the disk is full.",
                Double(dropped))
        ]
    }
}

internal import HTTPServer
internal import Telemetry

extension Server {
    /// The metrics of connections, of refused requests, of buffered bytes and of streams.
    var metrics: [Metric] {
        let (inFlight, budget, streams) = (configuration.inFlight, configuration.budget, configuration.streams)
        return [
            .gauge("humon_http_connections", "Open connections of clients.", Double(openConnections)),
            .gauge(
                "humon_http_connections_limit", "Maximum number of them; above it, others wait to be accepted.",
                Double(configuration.maximumConnections)),
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
                "humon_http_accept_failures_total", "Connections that could not be accepted for lack of files or memory.",
                Double(acceptFailures)),
            .gauge("humon_http_streams", "Open streams.", Double(streams.count)),
            .gauge("humon_http_streams_limit", "Maximum number of open streams.", Double(streams.limits.total)),
            .counter(
                "humon_http_streams_refused_total", "Streams refused because of a limit or a drain.", Double(streams.refusals)),
            .counter(
                "humon_http_streams_ended_total", "Streams that ended, by reason.",
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

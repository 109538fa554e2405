internal import Telemetry

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

extension SpanOutput {
    /// Without an exporter the counts are 0.
    var metrics: [Metric] {
        let outcomes: [(name: String, outcome: SpanExporter.Outcome)] = [("exported", .exported), ("dropped", .dropped)]
        return [
            .counter(
                "humon_trace_spans_total", "Spans that were to be sent to a collector, by what became of them.",
                outcomes.map { (["outcome": $0.name], Double(exporter?.count($0.outcome) ?? 0)) })
        ]
    }
}

internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Telemetry
internal import Tracing

/// Where spans go, by setting.
enum Traces: Sendable, Hashable {
    case none
    case log
    case collector(url: String)

    /// nil for what is none of them.
    init?(_ text: String) {
        switch text {
        case "none": self = .none
        case "log": self = .log
        case _:
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
                return nil
            }
            self = .collector(url: text)
        }
    }
}

/// What makes spans, and what sends them.
struct SpanOutput: Sendable {
    /// nil where nobody wants them.
    var tracer: (any Tracer)?
    var exporter: SpanExporter?

    var services: [any Service] { exporter.map { [$0] } ?? [] }
    var metrics: [Metric] { SpanExporter.metrics(of: exporter) }

    init(_ traces: Traces, ratio: Double, logger: Logger) {
        switch traces {
        case .none: break
        case .log: tracer = SpanTracer(ratio: ratio) { $0.tell(logger) }
        case .collector(let url):
            let exporter = SpanExporter(endpoint: url, logger: logger)
            self.exporter = exporter
            tracer = SpanTracer(ratio: ratio, export: exporter.take)
        }
    }
}

extension EndedSpan {
    fileprivate func tell(_ logger: Logger) {
        let nanoseconds = (endNanoseconds ?? 0) > startNanoseconds ? (endNanoseconds ?? 0) - startNanoseconds : 0
        var metadata: Logger.Metadata = [
            "trace_id": "\(trace.traceIDText)", "span_id": "\(trace.spanIDText)", "name": "\(name)",
            "microseconds": "\(nanoseconds / 1_000)",
        ]
        if let parent { metadata["parent_span_id"] = "\(TraceContext.text(parent))" }
        attributes.forEach { name, value in metadata[name] = "\(OTLP.text(value))" }
        logger.notice("span", metadata: metadata)
    }
}

internal import Foundation
public import Logging
public import Tracing

/// The destination of spans.
public enum Traces: Sendable, Hashable {
    case none
    case log
    /// The URL of a collector's OTLP/HTTP, with its path.
    case collector(url: String)

    /// - Parameter text: `none`, `log`, or a URL of http or https; any other text gives nil
    public init?(_ text: String) {
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

/// The tracer for a destination, and the exporter if the destination is a collector.
public struct SpanOutput: Sendable {
    /// nil if the destination is ``Traces/none``.
    public private(set) var tracer: (any Tracer)?
    /// nil unless the destination is a collector. It must run as a service.
    public private(set) var exporter: SpanExporter?

    /// - Parameters:
    ///   - ratio: share of new traces that are sampled, from 0 to 1
    ///   - service: the name under which a collector shows the spans
    ///   - logger: gets the spans if the destination is the log
    public init(_ traces: Traces, ratio: Double, service: String, logger: Logger) {
        switch traces {
        case .none: break
        case .log: tracer = SpanTracer(ratio: ratio) { $0.write(to: logger) }
        case .collector(let url):
            let exporter = SpanExporter(endpoint: url, service: service, logger: logger)
            self.exporter = exporter
            tracer = SpanTracer(ratio: ratio, export: exporter.add)
        }
    }
}

extension EndedSpan {
    fileprivate func write(to logger: Logger) {
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

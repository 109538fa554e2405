public import Tracing

/// Makes spans. A span with a parent is sampled if its parent is sampled. The tracer samples a share of new traces.
public struct SpanTracer: Tracer {
    private let ratio: Double
    private let export: @Sendable (EndedSpan) -> Void

    /// - Parameters:
    ///   - ratio: share of new traces that are sampled, from 0 to 1
    ///   - export: gets each sampled span when it ends; must not wait
    public init(ratio: Double, export: @escaping @Sendable (EndedSpan) -> Void) {
        self.ratio = ratio
        self.export = export
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> TracedSpan {
        var context = context()
        let parent = context.trace
        context.trace = parent?.child ?? TraceContext(samplingRatio: ratio)
        return TracedSpan(
            operationName, kind, context: context, parent: parent, startNanoseconds: instant().nanosecondsSinceEpoch,
            export: export)
    }

    public func forceFlush() {}

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let traceparent = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.trace = TraceContext(traceparent: traceparent, state: extractor.extract(key: "tracestate", from: carrier))
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
}

internal import Synchronization
public import Tracing

/// A span that ``SpanTracer`` started. A span that is not sampled has a context and stores no attributes.
public struct TracedSpan: Span {
    public let context: ServiceContext
    /// nil if the span is not sampled.
    private let record: Record?

    /// - Parameter export: gets the span when it ends
    init(
        _ name: String, _ kind: SpanKind, context: ServiceContext, parent: TraceContext?, startNanoseconds: UInt64,
        export: @escaping @Sendable (EndedSpan) -> Void
    ) {
        self.context = context
        record = context.trace.flatMap { trace in
            guard trace.isSampled else { return nil }
            return Record(
                EndedSpan(name: name, kind: kind, trace: trace, parent: parent?.spanID, startNanoseconds: startNanoseconds),
                export: export)
        }
    }

    public var isRecording: Bool { record != nil }

    public var operationName: String {
        get { record?.span.withLock { $0.name } ?? "" }
        nonmutating set { record?.span.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { record?.span.withLock { $0.attributes } ?? [:] }
        nonmutating set { record?.span.withLock { $0.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) { record?.span.withLock { $0.status = status } }

    /// Ignored. In this project, each step within a span has its own span.
    public func addEvent(_ event: SpanEvent) {}

    /// Ignored.
    public func addLink(_ link: SpanLink) {}

    /// Stores the error's type only: its description may be long, or hold values.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        record?.span.withLock { $0.attributes["error.type"] = "\(type(of: error))" }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let record else { return }
        let nanoseconds = instant().nanosecondsSinceEpoch
        let ended = record.span.withLock { span -> EndedSpan? in
            guard span.endNanoseconds == nil else { return nil }
            span.endNanoseconds = nanoseconds
            return span
        }
        if let ended { record.export(ended) }
    }

    private final class Record: Sendable {
        let span: Mutex<EndedSpan>
        let export: @Sendable (EndedSpan) -> Void

        init(_ span: EndedSpan, export: @escaping @Sendable (EndedSpan) -> Void) {
            self.span = Mutex(span)
            self.export = export
        }
    }
}

/// A span that has ended, as it is exported.
public struct EndedSpan: Sendable {
    var name: String
    var kind: SpanKind
    var trace: TraceContext
    var parent: UInt64?
    var startNanoseconds: UInt64
    /// nil until the span ends.
    var endNanoseconds: UInt64?
    var attributes: SpanAttributes = [:]
    var status: SpanStatus?

    init(name: String, kind: SpanKind, trace: TraceContext, parent: UInt64?, startNanoseconds: UInt64) {
        self.name = name
        self.kind = kind
        self.trace = trace
        self.parent = parent
        self.startNanoseconds = startNanoseconds
    }
}

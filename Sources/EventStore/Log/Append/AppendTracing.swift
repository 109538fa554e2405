internal import Tracing

/// A span an append, below the span that is current: it waits in the queue, and shares its transaction with others.
struct AppendTracing: Sendable {
    /// nil if appends are not traced.
    let tracer: (any Tracer)?

    func trace(_ append: AppendRequest, _ body: () async throws -> AppendResult) async throws -> AppendResult {
        guard let tracer, let current = ServiceContext.current else { return try await body() }
        let span = tracer.startSpan("append \(append.stream.category)", context: current, ofKind: .client)
        guard span.isRecording else { return try await body() }
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["db.system.name"] = "postgresql"
            attributes["db.operation.name"] = "append"
            attributes["db.collection.name"] = "log.recorded_events"
            attributes["humon.stream"] = append.stream.description
            attributes["humon.event.type"] = append.event.stored.type
        }
        do {
            let appended = try await body()
            span.attributes["humon.log.position"] = appended.position
            return appended
        } catch {
            span.setStatus(SpanStatus(code: .error))
            span.recordError(error)
            throw error
        }
    }
}

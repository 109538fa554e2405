internal import Tracing

/// Makes a span for each append, as a child of the current span. The span includes the wait in the queue and the shared
/// transaction.
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
            attributes["humon.event.type"] = append.stored.type
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

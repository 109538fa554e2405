internal import Tracing

/// Makes a span for each append, as a child of the current span. The span includes the wait in the queue and the shared
/// transaction.
struct AppendTracing: Sendable {
    /// nil if appends are not traced.
    let tracer: (any Tracer)?

    func trace(_ append: AppendRequest, _ body: () async throws -> AppendResult) async throws -> AppendResult {
        guard let tracer, let current = ServiceContext.current else { return try await body() }
        let span = tracer.startSpan("append \(append.last.stream.category)", context: current, ofKind: .client)
        guard span.isRecording else { return try await body() }
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["db.system.name"] = "postgresql"
            attributes["db.operation.name"] = "append"
            attributes["db.collection.name"] = "log.recorded_events"
            attributes["humon.stream"] = append.last.stream.description
            attributes["humon.event.type"] = append.stored.map(\.type).joined(separator: " ")
        }
        do {
            let result = try await body()
            if let place = result.place {
                span.attributes["humon.log.position"] = place.position
            } else {
                span.setStatus(SpanStatus(code: .error))
            }
            return result
        } catch {
            span.setStatus(SpanStatus(code: .error))
            span.recordError(error)
            throw error
        }
    }
}

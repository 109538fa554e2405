internal import Tracing

/// Makes a span for each call, as a child of the current span. Without a tracer or a current span it makes none.
/// Source: OpenTelemetry, *Semantic conventions for database client spans*.
struct QueryTracing: Sendable {
    /// nil if calls are not traced.
    let tracer: (any Tracer)?

    func trace(_ statements: [SQL], _ body: () async throws -> [Rows]) async throws -> [Rows] {
        guard let tracer, let current = ServiceContext.current else { return try await body() }
        let summary = Self.summary(statements)
        let span = tracer.startSpan(summary, context: current, ofKind: .client)
        guard span.isRecording else { return try await body() }
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["db.system.name"] = "postgresql"
            attributes["db.query.summary"] = summary
            // Only the text, because bound values may be secret.
            attributes["db.query.text"] = statements.map(\.text).joined(separator: "; ")
            if statements.count > 1 { attributes["db.operation.batch.size"] = statements.count }
        }
        do { return try await body() } catch {
            span.setStatus(SpanStatus(code: .error))
            span.recordError(error)
            if let state = (error as? PostgresError)?.sqlState { span.attributes["db.response.status_code"] = state.rawValue }
            throw error
        }
    }

    /// The operation and its table, such as `SELECT events_v1.events`. There are few different ones.
    static func summary(_ statements: [SQL]) -> String {
        guard let first = statements.first, statements.count == 1 else { return "BATCH" }
        let words = first.text.split { " \n\t(),;\"".contains($0) }
        guard let operation = words.first else { return "" }
        let targets = zip(words, words.dropFirst()).filter { ["FROM", "INTO", "UPDATE", "JOIN"].contains($0.0.uppercased()) }
        guard let target = targets.first?.1 ?? words.dropFirst().first else { return String(operation) }
        return "\(operation) \(target)"
    }
}

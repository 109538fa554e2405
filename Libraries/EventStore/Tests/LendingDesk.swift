import EventStore
import Logging
import Postgres

extension Lending {
    /// Prepares a database, and runs the log for as long as the body runs.
    static func with(_ url: String, logger: Logger, _ body: @escaping @Sendable (Lending) async throws -> Void) async throws {
        let projections = [LoansProjection()]
        var writing = PostgresConfiguration(url: url)
        writing.connections = 1
        try await withPostgres(PostgresConfiguration(url: url), logger: logger) { [writing] client in
            try await withPostgres(writing, logger: logger) { writer in
                _ = try await LogSchema(projections: projections, client: client).migrate()
                try await ReadModels(projections: projections, client: client, logger: logger).prepare()
                let log = EventLog(client: writer, projections: projections, logger: logger)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await log.run() }
                    defer { group.cancelAll() }
                    try await body(Lending(log: log, database: client))
                }
            }
        }
    }
}

/// Writes a letter for every book that is lent, once and in order, on one node at a time.
struct Letters: Subscription {
    let name = "letters"
    let filter = LogFilter(categories: [BookEvent.category])

    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
        for event in events {
            let book: EventEnvelope<BookEvent> = try event.decoded()
            guard case .lent(let reader) = book.event else { continue }
            try await transaction.query("INSERT INTO letters (reader, book) VALUES (\(reader), \(book.stream.key))")
        }
    }
}

internal import Postgres

/// One copy of a read model: the live tables, or a shadow that a process fills.
struct ReadModelCopy: Sendable {
    let projection: any Projection
    /// The suffix of the schema; empty for the live tables.
    let suffix: String
    /// The tables show the log up to this position.
    var position: Int64

    var schema: String { type(of: projection).schema + suffix }

    /// Number of recorded events that ``catchUp(_:on:)`` reads, folds and writes at a time.
    private static let page: Int64 = 2_000

    /// Locks the existing copies until the end of the transaction, and returns them in the projections' order. It returns no
    /// inline copies, because appends keep these in step. No append makes a locked copy inline.
    static func locked(
        _ projections: [any Projection], suffix: String = "", on connection: LeasedConnection
    ) async throws -> [ReadModelCopy] {
        let schemas = projections.map { type(of: $0).schema + suffix }
        // Separate statements, so that the snapshot of the second one shows all commits up to the locks. Together, because the
        // caller may hold the log's lock.
        let found = try await connection.run([
            "SELECT log.lock_read_models(\(schemas))",
            """
            SELECT schema, position FROM log.read_model_positions(\(schemas))
            WHERE NOT is_inline AND to_regnamespace(schema) IS NOT NULL
            """,
        ])
        let locked = try found[0].decode(String.self)
        let positions = Dictionary(try found[1].decode((String, Int64).self)) { first, _ in first }
            .filter { locked.contains($0.key) }
        return zip(projections, schemas).compactMap { projection, schema in
            positions[schema].map { ReadModelCopy(projection: projection, suffix: suffix, position: max($0, 0)) }
        }
    }

    /// Brings locked copies to the end of the log, or to a position, in the present transaction.
    static func catchUp(
        _ copies: inout [ReadModelCopy], through end: Int64 = .max, filter: LogFilter = .everything,
        on connection: LeasedConnection
    ) async throws {
        while !copies.isEmpty, copies.position < end {
            let position = copies.position
            let limit = min(page, end - position)
            let page = try await LogReader(client: connection).page(after: position, limit: limit, filter: filter)
            guard page.through > position else { return }
            let statements = try copies.writes(decoding: page.events).map(\.statement)
            try await connection.run(statements + [copies.checkpoint(at: page.through)])
            copies.advance(to: page.through)
            // Appends may wait for the caller, so that it does not ask once more at the end of the log.
            guard page.through - position == limit else { return }
        }
    }
}

extension [ReadModelCopy] {
    /// The position up to which all copies have followed the log.
    var position: Int64 { map(\.position).min() ?? 0 }

    /// Computes the writes for recorded events. Each copy skips the events that it has already. The function is pure.
    func writes(decoding recorded: [RecordedEvent]) throws -> [Write] {
        try flatMap { copy in
            let (category, position) = (copy.projection.category, copy.position)
            let own = recorded.filter { $0.position > position && $0.envelope.stream.category == category }
            return try copy.projection.writes(decoding: own, in: copy.schema)
        }
    }

    /// Moves the checkpoint forward, never back.
    func checkpoint(at position: Int64) -> SQL {
        "SELECT log.move_read_models(\(map(\.schema)), \(position))"
    }

    mutating func advance(to position: Int64) {
        for index in indices { self[index].position = Swift.max(self[index].position, position) }
    }
}

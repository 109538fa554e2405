public import Postgres

/// The position of a read model's live tables, and their identity.
public struct ReadModelState: Sendable, Hashable {
    /// The tables show the log up to this position.
    public var position: Int64
    /// Changes whenever other tables replace the live ones. A snapshot fixes rows, but not the names of tables. So a reader
    /// compares this value before and after its transaction, from outside of it.
    public var tableGeneration: String

    /// - Throws: ``ReadModelError/missing``
    public static func of(_ projection: any Projection.Type, _ database: any PostgresQuerying) async throws -> Self {
        let found = try await database.query(
            """
            SELECT position, (\(tableGeneration(of: projection.schema))) FROM log.read_model_positions(ARRAY[\(projection.schema)])
            """
        ).decode((Int64, String?).self)
        guard let (position, tableGeneration) = found.first, let tableGeneration else { throw ReadModelError.missing }
        return ReadModelState(position: max(position, 0), tableGeneration: tableGeneration)
    }

    /// Maximum number of positions that the statement of ``Projection/isInStep`` searches.
    fileprivate static let searchLimit: Int64 = 10_000

    /// Selects a value that differs after every renaming of the schema.
    static func tableGeneration(of schema: String) -> SQL {
        "SELECT oid::text || ' ' || xmin::text FROM pg_namespace WHERE nspname = \(schema)"
    }
}

extension Projection {
    /// Selects whether the read model holds every recorded event of its category. It selects false if it is too far behind to search,
    /// and without a read model. A read model that this program's appends change always holds them. PostgreSQL evaluates the second
    /// subquery for other read models only, because it takes three times as long as the first.
    public static var isInStep: SQL {
        """
        SELECT coalesce(
            (SELECT \(schema) = ANY (i.read_models) FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1)
            OR (
                SELECT p.position >= log.tail() - \(ReadModelState.searchLimit) AND NOT EXISTS (
                    SELECT FROM log.recorded_events AS e
                    WHERE e.position > p.position AND split_part(e.stream, '-', 1) = \(Event.category)
                ) FROM log.read_model_positions(ARRAY[\(schema)]) AS p
            ), false)
        """
    }
}

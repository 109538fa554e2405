public import Foundation
public import Postgres

/// What must hold for the log while an append is recorded: the stream ends with the recorded event of this id. So the append relies on
/// what its caller knows, without a query before it.
public struct AppendCondition: Sendable, Hashable {
    public var stream: StreamName
    public var lastID: UUID

    public init(stream: StreamName, lastID: UUID) {
        self.stream = stream
        self.lastID = lastID
    }

    /// The id of a recorded event, as an expression of a query: so the lookup of a caller finds what the append is to require.
    public static func lastID(stream: SQL, version: SQL) -> SQL {
        "(SELECT e.id FROM log.recorded_events AS e WHERE e.stream = \(stream) AND e.version = \(version))"
    }
}

extension Set<AppendCondition> {
    /// Selects the conditions that do not hold.
    var check: SQL {
        """
        SELECT c.stream, c.id FROM unnest(\(map(\.stream.description)), \(map(\.lastID))) AS c (stream, id)
        WHERE c.id IS DISTINCT FROM (
            SELECT e.id FROM log.recorded_events AS e WHERE e.stream = c.stream ORDER BY e.version DESC LIMIT 1
        )
        """
    }
}

extension AppendCondition {
    /// - Parameter rows: the rows of ``Swift/Set/check``
    static func failing(in rows: Rows) throws -> Set<AppendCondition> {
        Set(try rows.decode((String, UUID).self).map { AppendCondition(stream: StreamName($0), lastID: $1) })
    }
}

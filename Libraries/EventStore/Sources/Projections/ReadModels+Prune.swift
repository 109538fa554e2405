internal import Postgres

extension ReadModels {
    /// Drops the schemas that ``prunable(otherVersions:)`` lists. This cannot be undone.
    /// - Parameters:
    ///   - otherVersions: whether to drop the read models of other versions of the program, too
    ///   - lockSeconds: how long to wait for the readers of a schema; the schema stays then. `nil` waits without a limit
    /// - Returns: the dropped schemas
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them; `PostgresError`
    public func prune(otherVersions: Bool = false, lockSeconds: Int? = nil) async throws -> [String] {
        var dropped: [String] = []
        for schema in try await prunable(otherVersions: otherVersions) {
            // This happens before the drop, because the drop waits for readers, and appends must not wait with it.
            try await client.query("SELECT log.leave_inline(ARRAY[\(schema)])")
            do {
                try await client.withLongTransaction { connection in
                    if let lockSeconds {
                        try await connection.query("SELECT set_config('lock_timeout', \("\(lockSeconds)s"), true)")
                    }
                    try await Self.lockNames(on: connection)
                    try await Self.drop(schema, on: connection)
                    try await connection.query("DELETE FROM log.shadows WHERE schema = \(schema)")
                }
            } catch PostgresError.refused(let refusal) where refusal.sqlState == .lockNotAvailable { continue }
            dropped.append(schema)
        }
        return dropped
    }

    /// The schemas that cutovers replaced, and the schemas that interrupted verifications left.
    /// - Parameter otherVersions: whether to list the read models of other versions of the program, too
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them; `PostgresError`
    public func prunable(otherVersions: Bool = false) async throws -> [String] {
        let names = projections.map { type(of: $0).name }
        let own = schemas
        let found = try await client.query(
            """
            SELECT c.schema, log.is_served(c.schema), coalesce(\(ShadowLease.isLeased), false)
            FROM log.read_models AS c LEFT JOIN log.shadows AS s ON s.schema = c.schema ORDER BY c.schema
            """
        ).decode((String, Bool, Bool).self)
        let unwanted = found.filter { schema, _, isLeased in
            if own.contains(where: { [$0 + Self.previousSuffix, $0 + Self.verifySuffix].contains(schema) }) { return !isLeased }
            let isOwn = own.contains { schema == $0 || schema.hasPrefix($0 + "_") }
            return otherVersions && names.contains(Self.name(of: schema)) && !isOwn && !isLeased
        }.map { schema, isServed, _ in (schema: schema, isServed: isServed) }
        if let served = unwanted.first(where: { $0.isServed && !$0.schema.hasSuffix(Self.previousSuffix) }) {
            throw ReadModelError.served(served.schema)
        }
        return unwanted.map(\.schema)
    }
}

internal import Postgres

extension ReadModels {
    /// Drops the schemas that ``prunable(otherVersions:)`` lists. This cannot be undone.
    /// - Parameter otherVersions: whether to drop the read models of other versions of the program, too
    /// - Returns: the dropped schemas
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them; `PostgresError`
    public func prune(otherVersions: Bool = false) async throws -> [String] {
        let schemas = try await prunable(otherVersions: otherVersions)
        for schema in schemas { try await drop(schema, lockSeconds: nil) }
        return schemas
    }

    /// Drops what ``prune(otherVersions:)`` drops for all versions, apart from the schemas in use: a server of another version answers
    /// from one, a command works on one, or a reader holds one for longer than the limit.
    /// - Returns: the schemas in use
    /// - Throws: `PostgresError`
    func pruneUnused(lockSeconds: Int) async throws -> [String] {
        var left: [String] = []
        for name in try await unwanted(otherVersions: true).map(\.name) {
            // A wait for the schema before may have been long: its users are asked again.
            guard let schema = try await unwanted(otherVersions: true).first(where: { $0.name == name }) else { continue }
            guard !schema.isLeased, !schema.isServed else {
                left.append(name)
                continue
            }
            do { try await drop(name, lockSeconds: lockSeconds) } catch PostgresError.refused(let refusal)
                where refusal.sqlState == .lockNotAvailable
            {
                left.append(name)
            }
        }
        return left
    }

    private func drop(_ schema: String, lockSeconds: Int?) async throws {
        // This happens before the drop, because the drop waits for readers, and appends must not wait with it.
        try await client.query("SELECT log.leave_inline(ARRAY[\(schema)])")
        try await client.withLongTransaction { connection in
            if let lockSeconds { try await connection.query("SELECT set_config('lock_timeout', \("\(lockSeconds)s"), true)") }
            try await Self.lockNames(on: connection)
            try await Self.drop(schema, on: connection)
            try await connection.query("DELETE FROM log.shadows WHERE schema = \(schema)")
        }
    }

    /// The schemas that cutovers replaced, and the schemas that interrupted verifications left.
    /// - Parameter otherVersions: whether to list the read models of other versions of the program, too
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them; `PostgresError`
    public func prunable(otherVersions: Bool = false) async throws -> [String] {
        let free = try await unwanted(otherVersions: otherVersions).filter { !$0.isLeased }
        if let served = free.first(where: \.isServed) { throw ReadModelError.served(served.name) }
        return free.map(\.name)
    }

    private func unwanted(otherVersions: Bool) async throws -> [(name: String, isServed: Bool, isLeased: Bool)] {
        let names = projections.map { type(of: $0).name }
        let own = schemas
        let found = try await client.query(
            """
            SELECT c.schema, log.is_served(c.schema), coalesce(\(ShadowLease.isLeased), false)
            FROM log.read_models AS c LEFT JOIN log.shadows AS s ON s.schema = c.schema ORDER BY c.schema
            """
        ).decode((String, Bool, Bool).self)
        return found.filter { schema, _, _ in
            if own.contains(where: { [$0 + Self.previousSuffix, $0 + Self.verifySuffix].contains(schema) }) { return true }
            let isOwn = own.contains { schema == $0 || schema.hasPrefix($0 + "_") }
            return otherVersions && names.contains(Self.name(of: schema)) && !isOwn
        }.map { schema, isServed, isLeased in
            (schema, isServed && !schema.hasSuffix(Self.previousSuffix), isLeased)
        }
    }
}

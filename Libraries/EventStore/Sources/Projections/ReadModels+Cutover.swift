internal import Foundation
internal import Logging
internal import Postgres

extension ReadModels {
    /// Makes the shadows the live tables, at the end of the log, while all appends wait. The replaced tables stay.
    /// - Parameter start: the position from which the shadows were filled
    func cutover(under lock: ShadowLock, from start: Int64) async throws -> Cutover {
        try await swap(from: start) { connection in
            var shadows = try await ReadModelCopy.locked(projections, suffix: Self.rebuildSuffix, on: connection)
            try await lock.check(on: connection)
            try await ReadModelCopy.catchUp(&shadows, on: connection)
            try await connection.run(
                schemas.flatMap { live in
                    [Self.rename(live, to: live + Self.previousSuffix), Self.rename(live + Self.rebuildSuffix, to: live)]
                })
            return shadows
        }
    }

    /// Catches up the kept tables of each read model and makes them live. The present tables are kept, so that a second rollback returns to
    /// them.
    /// - Throws: ``ReadModelError/noPreviousTables(_:)``
    public func rollback() async throws -> Cutover {
        let previous = schemas.map { $0 + Self.previousSuffix }
        let start = try await Self.positions(of: previous, on: client).values.min() ?? 0
        // The tables catch up before the lock, so that little work is left under it.
        for projection in projections {
            while let isBehind = try await catchUp(projection, suffix: Self.previousSuffix), isBehind {}
        }
        return try await swap(from: start) { connection in
            var kept = try await ReadModelCopy.locked(projections, suffix: Self.previousSuffix, on: connection)
            if let none = projections.first(where: { !kept.map(\.schema).contains(type(of: $0).schema + Self.previousSuffix) }) {
                throw ReadModelError.noPreviousTables(type(of: none).name)
            }
            try await ReadModelCopy.catchUp(&kept, on: connection)
            try await connection.run(
                schemas.flatMap { live in
                    let previous = live + Self.previousSuffix
                    return [
                        Self.rename(live, to: live + "_swap"), Self.rename(previous, to: live),
                        Self.rename(live + "_swap", to: previous),
                    ]
                })
            return kept
        }
    }

    /// Seconds that a swap waits for a lock while appends wait too, and the maximum number of attempts.
    private static let lockSeconds = 1
    private static let attempts = 15

    /// - Parameter body: runs under the log's lock. Appends wait for each of its round trips.
    private func swap(
        from start: Int64, _ body: @Sendable (LeasedConnection) async throws -> [ReadModelCopy]
    ) async throws -> Cutover {
        let clock = ContinuousClock()
        var attempt = 1
        while true {
            do {
                let (copies, began) = try await client.withLongTransaction { connection in
                    try await connection.query(SQL(unsafeText: "SET LOCAL lock_timeout = '\(Self.lockSeconds)s'"))
                    try await Self.lockNames(on: connection)
                    try await connection.query("SELECT log.lock()")
                    let began = clock.now
                    return (try await body(connection), began)
                }
                let cutover = Cutover(
                    names: projections.map { type(of: $0).name }, position: copies.position, events: copies.position - start,
                    heldSeconds: (clock.now - began) / .seconds(1))
                logger.info(
                    "read models replaced",
                    metadata: [
                        "names": "\(cutover.names.joined(separator: ", "))", "position": .stringConvertible(cutover.position),
                    ])
                return cutover
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                guard attempt < Self.attempts else { throw ReadModelError.busy }
                attempt += 1
            }
        }
    }

    /// Takes a lock until the end of the transaction. Only its holder may rename live tables or drop replaced ones. Otherwise,
    /// while a drop waits for readers of its tables, another transaction could make these tables live.
    static func lockNames(on connection: LeasedConnection) async throws {
        try await connection.query("SELECT log.lock_names()")
    }

    /// The statement that renames a schema and its entry, or that drops the entry of a schema that does not exist.
    private static func rename(_ schema: String, to name: String) -> SQL {
        "SELECT log.rename_read_model(\(schema), \(name))"
    }
}

internal import Foundation
internal import Logging
internal import Postgres

extension ReadModels {
    /// The suffix of tables that a cutover replaced, until they are dropped.
    static let replacedSuffix = "_replaced"

    /// Seconds that a cutover waits for a lock while appends wait too, and the maximum number of attempts.
    private static let lockSeconds = 1
    private static let attempts = 15

    /// Makes the shadows the live tables, at the end of the log, while all appends wait. A second transaction then drops the replaced
    /// tables, because a drop waits for readers such as `pg_dump`, and appends must not wait with it. A renaming waits for no reader.
    /// - Parameter start: the position from which the shadows were filled
    /// - Throws: ``ReadModelError/busy`` if a transaction still reads the tables that an earlier cutover replaced
    func cutover(under lock: ShadowLock, from start: Int64) async throws -> Cutover {
        // Those of an earlier cutover have the name that the live tables get now.
        guard try await dropReplaced() else { throw ReadModelError.busy }
        let cutover = try await swap(under: lock, from: start)
        logger.info(
            "read models replaced",
            metadata: [
                "names": "\(cutover.names.joined(separator: ", "))", "position": .stringConvertible(cutover.position),
            ])
        // ``forget()`` drops later what a reader holds now.
        _ = try? await dropReplaced()
        return cutover
    }

    /// Brings the shadows to the end of the log and renames both copies, under the log's lock. Appends wait for each round trip.
    private func swap(under lock: ShadowLock, from start: Int64) async throws -> Cutover {
        let clock = ContinuousClock()
        var attempt = 1
        while true {
            do {
                let (copies, began) = try await client.withLongTransaction { connection in
                    try await connection.query(SQL(unsafeText: "SET LOCAL lock_timeout = '\(Self.lockSeconds)s'"))
                    try await connection.query("SELECT log.lock_names()")
                    try await connection.query("SELECT log.lock()")
                    let began = clock.now
                    var shadows = try await ReadModelCopy.locked(projections, suffix: Self.rebuildSuffix, on: connection)
                    try await lock.check(on: connection)
                    try await ReadModelCopy.catchUp(&shadows, on: connection)
                    try await connection.run(
                        schemas.flatMap { live -> [SQL] in
                            [
                                "SELECT log.rename_read_model(\(live), \(live + Self.replacedSuffix))",
                                "SELECT log.rename_read_model(\(live + Self.rebuildSuffix), \(live))",
                            ]
                        })
                    return (shadows, began)
                }
                return Cutover(
                    names: projections.map { type(of: $0).name }, position: copies.position, events: copies.position - start,
                    heldSeconds: (clock.now - began) / .seconds(1))
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                guard attempt < Self.attempts else { throw ReadModelError.busy }
                attempt += 1
            }
        }
    }
}

internal import Postgres

/// Advisory locks that a process holds while it works, on a connection of its own. They end with the work, with the connection, and when
/// the process was silent for some seconds, as on a machine that froze. So PostgreSQL knows which processes work, and no table does.
///
/// A process learns a pulse later that its locks are gone. Each transaction of the work must itself keep from a commit beside the work of
/// another holder.
enum AdvisoryLocks {
    /// The session that held the locks has ended. Another process may hold them now.
    struct Lost: Error, CustomStringConvertible {
        var description: String { "the connection that held advisory locks has ended" }
    }

    /// Maximum seconds between two statements that show that the process lives.
    private static let pulseSeconds = 5.0

    /// Calls the work with the locks.
    /// - Parameters:
    ///   - silenceSeconds: the locks end when PostgreSQL got no statement for this time
    ///   - take: takes the locks, on the connection. A lock belongs to the session or to its transaction: the scope is a part of the name of
    ///     PostgreSQL's function, as in `pg_advisory_\(scope)lock`
    ///   - work: gets what `take` returned. It is cancelled when the locks are lost
    /// - Throws: ``Lost``, `PostgresError`, and the errors of the closures
    static func with<Taken: Sendable, Value: Sendable>(
        _ client: PostgresClient, silenceSeconds: Double,
        take: (_ connection: LeasedConnection, _ scope: SQL) async throws -> Taken,
        work: @Sendable @escaping (Taken) async throws -> Value
    ) async throws -> Value {
        // A pooler in transaction mode keeps a session for one transaction only. Each pulse gives it a new snapshot.
        let isPooled = client.configuration.isPooled
        let silence = String(Int(silenceSeconds * 1_000))
        let end = try await client.withConnection { connection -> Result<Value, any Error> in
            try await connection.run(
                isPooled
                    ? ["BEGIN", "SELECT set_config('idle_in_transaction_session_timeout', \(silence), true)"]
                    : ["SELECT set_config('idle_session_timeout', \(silence), false)"])
            let result: Result<Value, any Error>
            do {
                let taken = try await take(connection, isPooled ? "xact_" : "")
                result = .success(
                    try await withThrowingTaskGroup(of: Value?.self) { group in
                        group.addTask {
                            while true {
                                try await Task.sleep(for: .seconds(min(pulseSeconds, silenceSeconds / 3)))
                                do { try await connection.query("SELECT 1") } catch is PostgresError { throw Lost() }
                            }
                        }
                        group.addTask { try await work(taken) }
                        defer { group.cancelAll() }
                        while let ended = try await group.next() { if let value = ended { return value } }
                        throw CancellationError()
                    })
            } catch {
                result = .failure(error)
            }
            // Where that fails the client closes the connection, and the locks end with its session. The work is done in any case.
            _ = try? await connection.run(
                isPooled ? ["COMMIT"] : ["SELECT pg_advisory_unlock_all()", "RESET idle_session_timeout"])
            return result
        }
        return try end.get()
    }
}

internal import Postgres

extension TestDatabase {
    /// Holds the log's lock while the body runs, in a session that works. A server ends a session that holds the lock and whose client is
    /// silent.
    /// - Throws: what the body throws, and the error of the session if it was ended
    public func whileLogIsLocked<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await withClient { client in
            let sleeping: SQL = """
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event = 'PgSleep' AND query = 'SELECT pg_sleep(600)'
                """
            let holding = Task { try await client.run(["SELECT log.lock()", "SELECT pg_sleep(600)"]) }
            let result: Result<Value, any Error>
            do {
                try await eventually("a session to hold the log's lock") { try await !client.query(sleeping).isEmpty }
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            try await client.query("SELECT pg_cancel_backend(pid) FROM (\(sleeping)) AS holder")
            do { _ = try await holding.value } catch let error as PostgresError where error.sqlState == .queryCanceled {}
            return try result.get()
        }
    }
}

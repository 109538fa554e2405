internal import Postgres

extension TestDatabase {
    /// Holds the log's lock while the body runs, in a session that works. A server ends a session that holds the lock and whose client is
    /// silent.
    /// - Throws: what the body throws, and the error of the session if it was ended
    public func whileLogIsLocked<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await withClient(connections: 1) { holder in
            try await withClient(connections: 1) { client in
                try await whileLogIsLocked(by: holder, client, body)
            }
        }
    }

    /// - Parameter client: not the holder, on whose connection a query would wait for the end of the sleep
    private func whileLogIsLocked<Value: Sendable>(
        by holder: PostgresClient, _ client: PostgresClient, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let sleeping: SQL = """
            SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'PgSleep' AND query = 'SELECT pg_sleep(600)'
            """
        let holding = Task {
            try await holder.withTransaction { connection in
                // On a busy machine the body takes longer than a statement may.
                try await connection.withoutTimeout { connection in
                    _ = try await connection.run(["SELECT log.lock()", "SELECT pg_sleep(600)"])
                }
            }
        }
        let result: Result<Value, any Error>
        do {
            try await eventually("a session to hold the log's lock") { try await !client.query(sleeping).isEmpty }
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        try await client.query("SELECT pg_cancel_backend(pid) FROM (\(sleeping)) AS holder")
        do { try await holding.value } catch let error as PostgresError where error.sqlState == .queryCanceled {}
        return try result.get()
    }
}

internal import Postgres

extension TestDatabase {
    /// Holds the log's lock while the body runs, in a session that works: servers end a session that holds the lock and whose client
    /// is silent.
    public func whileLogIsLocked<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await withClient(connections: 3) { client in
            try await client.withConnection { gate in
                try await gate.query("SELECT pg_advisory_lock(4711)")
                let holding = Task { try await client.run(["SELECT log.lock()", "SELECT pg_advisory_xact_lock(4711)"]) }
                let result: Result<Value, any Error>
                do {
                    try await eventually("a session to hold the log's lock") {
                        try await !client.query(
                            """
                            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                                AND query = 'SELECT pg_advisory_xact_lock(4711)'
                            """
                        ).isEmpty
                    }
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                try await gate.query("SELECT pg_advisory_unlock(4711)")
                _ = try await holding.value
                return try result.get()
            }
        }
    }
}

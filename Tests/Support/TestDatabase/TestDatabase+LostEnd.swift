internal import Postgres

extension TestDatabase {
    /// Truncates the end of the log, as a failover does to a standby that lacks the last recorded events.
    /// - Parameter script: truncates the tables of the read models in the same way, as the superuser
    public func loseEndOfLog(after position: Int64, script: String = "") async throws {
        try await withClient { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        BEGIN;
                        ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change;
                        DELETE FROM log.recorded_events WHERE position > \(position);
                        ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;
                        \(script)
                        COMMIT;
                        """)
            }
        }
    }
}

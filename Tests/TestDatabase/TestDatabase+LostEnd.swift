internal import Postgres

extension TestDatabase {
    /// Takes the end of the log away, as a fail-over to a server does that did not have the last of it.
    /// - Parameter script: does the same to the tables of read models, as the superuser
    public func loseEndOfLog(after position: Int64, script: String = "") async throws {
        try await withClient { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        BEGIN;
                        ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change;
                        DELETE FROM log.recorded_events WHERE position > \(position);
                        ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;
                        UPDATE log.checkpoints SET position = least(position, \(position));
                        \(script)
                        COMMIT;
                        """)
            }
        }
    }
}

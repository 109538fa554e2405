internal import EventStore
internal import Logging
internal import Postgres
internal import Users

/// The demo's events stay in the log for ever, so the demo asks before it writes into a used database.
enum DemoConsent {
    /// The position of the first recorded event that another client caused; `nil` if the log has only events of the demo.
    /// - Throws: `PostgresError`
    static func foreignPosition(_ database: Database, logger: Logger) async throws -> Int64? {
        try await withPostgres(database.asOwner, logger: logger) { client in
            try await LogReader(client: client).firstPosition(notCausedBy: Backend.demoContext.requestID)
        }
    }

    static func consequence(foreignPosition position: Int64) -> String {
        """
        The log of this database holds recorded events that do not come from the demo, the first at position \(position). \
        The demo's events will stay in it for ever: they cannot be removed.
        """
    }
}

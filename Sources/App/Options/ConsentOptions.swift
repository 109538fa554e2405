internal import EventStore
internal import Logging
internal import Postgres
internal import Users

/// Asks before the demo writes into a used database: the demo's events stay in the log for ever.
enum DemoConsent {
    /// Asks the person at the terminal if the log holds other recorded events than the demo's.
    /// - Throws: ``NegativeResult`` if no terminal is there or the answer is no, ``PostgresError``, and `CancellationError`
    static func require(_ database: Database, logger: Logger) async throws {
        let foreign = try await withPostgres(database.asOwner, logger: logger) { client in
            try await LogReader(client: client).firstPosition(notCausedBy: Backend.demoContext.requestID)
        }
        guard let foreign else { return }
        let finding = """
            The log of this database holds recorded events that are not the demo's, the first at position \(foreign). \
            The demo's events would stay in it for ever: they cannot be removed.
            """
        guard Question.canBeAsked else {
            throw NegativeResult(
                "\(finding) Nothing was written. Name another database in DATABASE_URL or HUMON_DATA, or give --yes.")
        }
        guard try await Question.isAnsweredWithYes("\(finding) Go on?") else { throw NegativeResult("Nothing was written.") }
    }
}

internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Postgres

/// The option that shows the page before another one.
struct BeforeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only events before this position, which is the last one of the previous page.", valueName: "position"),
        transform: Parameter.cursor)
    var before: LogCursor?

    /// - Throws: ``CommandFailure`` for a position of another history of the log, `PostgresError`
    func position(_ client: PostgresClient) async throws -> Int64? {
        guard let before, before.mark != nil else { return before?.position }
        guard try await LogReader(client: client).cursor(at: before.position) == before else {
            throw CommandFailure(
                "The log has no event \(before): it was restored, or this is another database. Begin again without --before.")
        }
        return before.position
    }
}

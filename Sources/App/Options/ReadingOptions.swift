internal import ArgumentParser
internal import EventStore
internal import Postgres

/// The options of a command that reads the database and prints one table, which has personal data only with `--reveal`.
struct ReadingOptions<Command: TableCommand>: ParsableArguments {
    @OptionGroup var personal: RevealOptions
    @OptionGroup var table: TableOptions<Command>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// The parts of stored data that may be shown.
    var personalData: PersonalData { personal.personalData }

    /// Runs the body with the existing database, with the rights of the role that may only read, and with the output of the table.
    /// - Throws: the errors of `DatabaseOptions.reading(_:connections:_:)`
    func reading<Value: Sendable>(
        connections: Int = 1, _ body: @Sendable (PostgresClient, Output) async throws -> Value
    ) async throws -> Value {
        try await database.reading(options.output(table), connections: connections, body)
    }
}

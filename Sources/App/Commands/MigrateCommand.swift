internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon migrate`
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Apply missing migrations to the database.",
        discussion: """
            Also replaces the functions of the log and grants the rights of the roles, every time.

            EXAMPLE: humon migrate --check || humon migrate
            """
    )

    @Flag(help: "Change nothing; list the missing migrations, and exit with 2 if there are any.")
    var check = false

    @OptionGroup var options: CommandOptions

    func run() async throws {
        let isCheck = check
        let missing = try await options.database.with(isCheck ? .existing : .creating) { database, logger in
            try await database.usingAsOwner(logger: logger) { client in
                let schema = LogSchema(projections: Backend.projections, client: client)
                return try await isCheck ? schema.pending() : schema.migrate()
            }
        }
        try options.output.write(
            missing.map { ["migration": .string($0), "state": isCheck ? "missing" : "applied"] },
            whenEmpty: "The database has all migrations.")
        if isCheck, !missing.isEmpty { throw NegativeResult() }
    }
}

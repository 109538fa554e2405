internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon migrate`
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Apply missing migrations to the database.",
        discussion: """
            Applies the grants as well, every time.

            EXAMPLE: humon migrate --check || humon migrate
            """
    )

    @Flag(help: "Change nothing; exit with 2 when migrations are missing.")
    var check = false

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let isCheck = check
        let missing = try await Database.with(settings, isCheck ? .asVisitorOfExisting : .asVisitor, logger: logger) { database in
            try await withPostgres(database.asOwner, logger: logger) { client in
                let migrator = Migrator(client: client)
                return try await isCheck ? migrator.pending() : migrator.migrate()
            }
        }
        let state: Field = isCheck ? .state(.bad, "missing") : .state(.good, "applied")
        let table = Table("migration", "state", rows: missing.map { [.text($0), state] })
        try options.output.write(table, whenEmpty: "The database has all migrations.")
        if isCheck, !missing.isEmpty { throw NegativeResult() }
    }
}

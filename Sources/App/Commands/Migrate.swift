internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon migrate`
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Apply missing migrations to the database.")

    @Flag(help: "Change nothing; exit with 1 when migrations are missing.")
    var check = false

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
        switch (isCheck, missing.isEmpty) {
        case (_, true): print("The database has all migrations.")
        case (false, false): print("Applied: \(missing.joined(separator: ", "))")
        case (true, false):
            print("Missing: \(missing.joined(separator: ", "))")
            throw ExitCode(1)
        }
    }
}

internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon projections`
struct Projections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the read models, and mend them while servers go on.",
        discussion: "EXAMPLE: humon projections list",
        subcommands: [List.self, Rebuild.self, Verify.self, Rollback.self, Prune.self]
    )
}

/// Which read models a command works on.
struct ReadModelChoice: ParsableArguments {
    @Argument(help: "The read models: \(Backend.projections.map { type(of: $0).name }.joined(separator: ", ")).")
    var names: [String] = []

    @Flag(help: "All of them.")
    var all = false

    func validate() throws {
        guard all != !names.isEmpty else { throw ValidationError("Name read models, or say --all.") }
        do { try ReadModels.check(names, among: Backend.projections) } catch { throw ValidationError("\(error)") }
    }

    /// Gives the body the read models, with the rights of the application.
    func tending<Value: Sendable>(
        migrates: Bool = false, _ body: @Sendable (ReadModels) async throws -> Value
    ) async throws -> Value {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        return try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            if migrates, try await database.lacksMigrations(logger: logger) { try await database.migrate(logger: logger) }
            return try await database.using(database.asApplication(connections: 4), logger: logger) { client in
                try await body(Backend.readModels(client, logger: logger).named(names))
            }
        }
    }
}

internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon projections`
struct Projections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tend the read models.", discussion: "EXAMPLE: humon projections rebuild", subcommands: [Rebuild.self])

    /// `humon projections rebuild`
    struct Rebuild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Empty and replay the read models from the log.",
            discussion: """
                Servers go on meanwhile. The tables there were stay in schemas named …_before until the next rebuild.

                EXAMPLE: humon projections rebuild
                """
        )

        func run() async throws {
            let settings = try await Settings.load()
            let logger = Logger.humon(settings.logLevel)
            try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
                try await database.migrate(logger: logger)
                try await withPostgres(database.asApplication(connections: 1), logger: logger) { client in
                    try await ReadModels(projections: Backend.projections, client: client, logger: logger).rebuild { progress in
                        print("\(progress.schema): position \(progress.position) of \(progress.tail)")
                    }
                }
            }
        }
    }
}

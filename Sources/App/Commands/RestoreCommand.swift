internal import ArgumentParser
internal import EmbeddedPostgres
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon restore`
struct RestoreCommand: AsyncParsableCommand {
    /// Between two looks at whether the erasures are done.
    private static let pauseSeconds = 0.05

    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup of the private PostgreSQL into a directory without one.",
        discussion: """
            HUMON_DATA names the directory. The command refuses a damaged backup before it changes anything, starts PostgreSQL on it, \
            applies missing migrations, and erases the persons of HUMON_ERASURES whom the backup still has. Then start humon serve. A \
            backup can name programs that PostgreSQL runs: restore only your own.

            EXAMPLE: humon restore humon.backup
            """
    )

    @Argument(help: "The file from humon backup; - for standard input.")
    var file: String

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let settings = try Settings.load()
        try settings.requirePrivateDatabase()
        let (input, logger) = (try InputFile.open(file), Logger.humon(settings.logLevel))
        let label: String
        do {
            label = try await EmbeddedCluster.restore(settings.cluster, from: input, logger: logger)
        } catch let error as EmbeddedPostgresError {
            throw CommandFailure(error)
        }
        // Whatever fails from here on.
        options.output.note("\(settings.data) has the backup: \(label)")
        let (position, lines, erased) = try await Database.with(settings, .existing, logger: logger) { database in
            try await Backend.prepare(database, logger: logger)
            let (position, lines) = try await database.usingAsOwner(logger: logger) { client in
                let lines = try await settings.erasureFile?.compared(with: client, StoredModule.all).linesOfLog
                return (try await LogReader(client: client).tail(), lines)
            }
            return (position, lines, try await Self.erase(in: database, behind: position, logger: logger))
        }
        try options.output.write([
            "directory": .string(settings.data), "backup": .string(label), "position": JSON(position), "erased": .integer(erased),
        ])
        guard lines ?? 0 == 0 else { return }
        let reason = lines == nil ? "HUMON_ERASURES is not set" : "The list of HUMON_ERASURES has no line of this log"
        options.output.note("\(reason): whoever was erased after the backup shows again.")
    }

    /// Erases the persons of the list as a server does.
    /// - Returns: their number; nil without a list
    private static func erase(in database: Database, behind position: Int64, logger: Logger) async throws -> Int64? {
        let settings = database.settings
        guard let list = settings.erasureFile else { return nil }
        let backend = Backend(database, connections: settings.databaseConnections, erasureFile: list, logger: logger)
        return try await backend.run(logger: logger) {
            while !backend.mayAnswer { try await Task.sleep(for: .seconds(pauseSeconds)) }
            return try await LogReader(client: backend.readers).restoredErasures(after: position)
        }
    }
}

internal import ArgumentParser
internal import EmbeddedPostgres
internal import Encoding
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres

/// `humon backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write the private PostgreSQL to one file while servers continue.",
        discussion: """
            The file is a base backup of PostgreSQL with its WAL, as a compressed tar. It contains personal data, and only its owner \
            can read it. tar -xzOf FILE backup_label shows what it holds: the version of humon, the log, which is named after its first \
            recorded event, a position that it holds at least, and the time. Keep .env with it, which has the app's secret.

            EXAMPLE: humon backup humon.backup
            """
    )

    @Argument(help: "The file to create.")
    var file: String

    @Flag(help: "Overwrite an existing file.")
    var force = false

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let settings = try Settings.load()
        try settings.requirePrivateDatabase()
        let (file, force, logger) = (file, force, Logger.humon(settings.logLevel))
        let record = try await Database.with(settings, .existing, logger: logger) { database in
            try await database.using(database.asOwner, logger: logger) { client in
                try await client.withConnection { connection in
                    // While this session lasts, PostgreSQL keeps the WAL that the backup needs.
                    try await connection.query(
                        "SELECT FROM pg_create_physical_replication_slot('humon_backup_' || pg_backend_pid(), true, true)")
                    let (reader, now) = (LogReader(client: connection), Dependencies.system.now())
                    let position = try await reader.tail()
                    let log = try await reader.read(position: 1)?.envelope.id.uuidString.lowercased()
                    let label = "humon \(Version.current); log \(log ?? "empty"); position \(position); taken \(now)"
                    return try await PrivateFile.write(at: file, isOverwriting: force) { output -> JSONObject in
                        try await EmbeddedCluster.backUp(settings.cluster, label: label, to: output, logger: logger)
                        return [
                            "file": .string(file), "bytes": JSON(Int64(try output.seekToEnd())), "log": JSON(log),
                            "position": JSON(position), "taken_at": .time(now),
                        ]
                    }
                }
            }
        }
        try options.output.write(record)
    }
}

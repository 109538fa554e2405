internal import ArgumentParser
internal import EmbeddedPostgres
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon cluster upgrade`
struct ClusterUpgradeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Upgrade the private PostgreSQL to the newest installed version, while no server runs.",
        discussion: """
            pg_upgrade copies the database, so the disk needs room for it twice, and both versions must be installed. HUMON_POSTGRES_BIN \
            can name the new one; an old one in an unusual place must be in PATH. Until the copy is complete and has started, nothing \
            changes. The old PostgreSQL stays in HUMON_DATA, in cluster.15 for version 15, until you remove that directory.

            EXAMPLE: humon cluster upgrade
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let settings = try Settings.load()
        try settings.requirePrivateDatabase(page: "docs/upgrading.md")
        let (logger, begin) = (Logger.humon(settings.logLevel), ContinuousClock.now)
        let upgrade: EmbeddedCluster.Upgrade
        do {
            upgrade = try await EmbeddedCluster.upgrade(settings.cluster, logger: logger)
        } catch EmbeddedPostgresError.noPrograms(let old?, let places) {
            // The setting is for the new version.
            let error = EmbeddedPostgresError.noPrograms(wanted: old, lookedIn: places)
            throw CommandFailure(error.description(directory: nil, programs: "PATH"))
        } catch let error as EmbeddedPostgresError {
            throw CommandFailure(error)
        }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        // Whatever fails from here on.
        options.output.note("\(upgrade.oldDirectory) keeps PostgreSQL \(upgrade.oldVersion); remove it when all is well.")
        let position = try await Database.with(settings, .existing, logger: logger) { database in
            try await database.using(database.asOwner, logger: logger) { try await LogReader(client: $0).tail() }
        }
        try options.output.write([
            "directory": .string(settings.data), "version": JSON(upgrade.version), "bytes": JSON(upgrade.bytes),
            "old_directory": .string(upgrade.oldDirectory), "old_version": JSON(upgrade.oldVersion),
            "old_bytes": JSON(upgrade.oldBytes), "seconds": .figure(seconds), "position": JSON(position),
        ])
    }
}

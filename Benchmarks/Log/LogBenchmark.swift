internal import App
internal import ArgumentParser
internal import EmbeddedPostgres
internal import EventStore
internal import Foundation
internal import Postgres

/// Measures the log beside PostgreSQL without the log, in one run, on one PostgreSQL with production settings.
@main
struct LogBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "LogBenchmark",
        abstract: "Measures the log beside pgbench and COPY, against a private PostgreSQL with fsync on.",
        discussion: "Needs pgbench and psql in the PATH. The exit code is 0 for any ratios.",
        subcommands: [Follow.self]
    )

    /// The numbers of concurrent commands.
    static let concurrencies = [1, 8, 64, 256]
    /// The number of concurrent commands for the comparison.
    static let reference = 64
    static let projections = StoredModule.all.projections

    @Option(help: "Seconds for each measurement.")
    var seconds = 5

    @Option(help: "Seconds of appends under an open snapshot before the measurement.")
    var snapshotSeconds = 300

    @Option(help: "Number of events in the large log.")
    var events: Int64 = 5_000_000

    @Flag(help: "Skip the large log, and measure reading on the log of the appends.")
    var quick = false

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-bench-\(getpid())").path
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        // More connections for (a) with 256 commands, and the timing of fsync, for its share of the time.
        configuration.settings = ["max_connections": "300", "track_wal_io_timing": "on"]
        let embedded = try await EmbeddedCluster.start(configuration, logger: .quiet)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            try await measure(Cluster(url: embedded.url, directory: directory))
            try await embedded.stop()
        } catch {
            try? await embedded.stop()
            throw error
        }
    }

    private func measure(_ cluster: Cluster) async throws {
        var report = Report(conditions: try await cluster.conditions(seconds: seconds))
        let plain = try await PlainInserts(cluster: cluster, seconds: seconds)
        let alone = try await LogAppends(cluster: cluster, database: "log_alone", projections: [], seconds: seconds)
        let projected = try await LogAppends(
            cluster: cluster, database: "log_projected", projections: Self.projections, seconds: seconds)
        let locked = try await LockedInserts(cluster: cluster, seconds: seconds)

        // (b) runs before, between and after the log's measurements, because the speed of a machine varies.
        for clients in PlainInserts.clients { report.add(.singleRows, try await plain.singleRows(clients: clients)) }
        for clients in PlainInserts.clients { report.add(.bareRows, try await plain.bareRows(clients: clients)) }
        for commands in Self.concurrencies { report.add(.log, try await alone.measure(commands: commands)) }
        for clients in PlainInserts.clients { report.add(.singleRows, try await plain.singleRows(clients: clients)) }
        for commands in Self.concurrencies { report.add(.projectedLog, try await projected.measure(commands: commands)) }
        for clients in PlainInserts.clients { report.add(.singleRows, try await plain.singleRows(clients: clients)) }
        report.add(.updates, try await projected.measure(commands: Self.reference, workload: .creationsAndUpdates))
        for clients in Self.concurrencies { report.add(.oneTransactionEach, try await locked.measure(clients: clients)) }
        for clients in [1, 8] { report.add(.fiftyRows, try await plain.fiftyRows(clients: clients)) }
        report.add(.copyIn, try await plain.copyIn())

        let snapshot = OpenSnapshot(database: projected.database, holdSeconds: snapshotSeconds, seconds: seconds)
        let (under, after) = try await snapshot.measure()
        report.add(.underSnapshot, under)
        report.add(.afterSnapshot, after)

        let followed = try await cluster.createDatabase("followed", migrated: true)
        report.subscriptions = try await SubscriptionTimes(database: followed).measure()

        if quick {
            report.reading = try await Reading(database: alone.database).measure()
        } else {
            let sizes = try await LogSizes(cluster: cluster, seconds: seconds, events: events)
            try await sizes.measure(into: &report)
            report.reading = try await Reading(database: sizes.large).measure()
        }
        print(report.text)
    }
}

public import EmbeddedPostgres
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres

/// A streaming standby of another cluster on this machine.
public actor TestStandby {
    public struct Failed: Error, CustomStringConvertible {
        public let description: String
    }

    public nonisolated let directory: String
    private let settings: [String: String]
    private var cluster: EmbeddedCluster?

    /// Copies a running cluster and starts the copy as its standby.
    /// - Parameters:
    ///   - socketDirectory: the socket of the primary
    ///   - settings: further lines of `postgresql.conf`
    public init(of socketDirectory: String, in directory: String, settings: [String: String] = [:]) async throws {
        self.directory = directory
        // The embedded cluster writes the file anew that pg_basebackup would write these settings to.
        self.settings = settings.merging(
            ["primary_conninfo": "host='\(socketDirectory)' user=humon", "wal_retrieve_retry_interval": "100ms"]
        ) { own, _ in own }
        let copy = directory + "/cluster"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let programs = try await PostgresInstallation.find(in: nil, majorVersion: nil)
        try await TestProgram.run(
            "\(programs.directory)/pg_basebackup",
            ["--host", socketDirectory, "--username", "humon", "--pgdata", copy, "--checkpoint", "fast"])
        guard FileManager.default.createFile(atPath: copy + "/standby.signal", contents: nil) else {
            throw Failed(description: "the copy of the cluster is no standby")
        }
        if getuid() == 0 { try await TestProgram.run("/bin/chown", ["-R", "postgres", copy]) }
        try await start()
    }

    public nonisolated var socketDirectory: String { "\(directory)/socket" }

    /// The URL of a database on the standby.
    public nonisolated func url(database: String) -> String { "host='\(socketDirectory)' user=humon dbname=\(database)" }

    public func start() async throws {
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        configuration.settings = settings
        cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
    }

    /// Shuts PostgreSQL down.
    public func stop() async throws {
        try await cluster?.stop()
        cluster = nil
    }

    /// Kills PostgreSQL without a shutdown. It recovers at the next start.
    public func kill() async throws {
        let file = directory + "/cluster/postmaster.pid"
        let process = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { Int32($0) }
        guard let process else { throw Failed(description: "the standby does not run") }
        // The children notice that their postmaster is dead, and end.
        Foundation.kill(process, SIGKILL)
        try await eventually("the standby to be gone") { Foundation.kill(process, 0) != 0 }
        cluster?.abandon()
        cluster = nil
    }

    /// Gives PostgreSQL away, for example after a promotion.
    public func handOver() throws -> EmbeddedCluster {
        guard let cluster else { throw Failed(description: "the standby does not run") }
        self.cluster = nil
        return cluster
    }

    /// Kills all processes of PostgreSQL without a shutdown, and removes the files.
    public func remove() {
        cluster?.abandon()
        cluster = nil
        // PostgreSQL takes a moment to end, and writes until then.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
            try? FileManager.default.removeItem(atPath: directory)
            usleep(20_000)
        }
    }

    /// The standby shows no later commits until ``resume()``.
    public nonisolated func pause() async throws {
        try await administer { client in
            try await client.query("SELECT pg_wal_replay_pause()")
            try await eventually("a paused replay") {
                try await client.query("SELECT pg_get_wal_replay_pause_state()").decode(String.self) == ["paused"]
            }
        }
    }

    public nonisolated func resume() async throws {
        try await administer { try await $0.query("SELECT pg_wal_replay_resume()") }
    }

    /// Makes the standby a server that takes writes.
    public nonisolated func promote() async throws {
        try await administer { client in
            guard try await client.query("SELECT pg_promote(true, 60)").decode(Bool.self) == [true] else {
                throw Failed(description: "the standby was not promoted")
            }
        }
    }

    private nonisolated func administer(_ body: @Sendable (PostgresClient) async throws -> Void) async throws {
        var configuration = PostgresConfiguration(url: url(database: "postgres"))
        configuration.connections = 1
        configuration.acquireTimeoutSeconds = 30
        configuration.statementTimeoutSeconds = 90
        try await withPostgres(configuration, logger: .quiet, body)
    }
}

extension TestDatabase {
    /// Creates a migrated database in a cluster of its own.
    public static func withCluster<Value: Sendable>(_ body: (TestDatabase) async throws -> Value) async throws -> Value {
        try await Capacity.processes.use { try await withOwnCluster { database, _ in try await body(database) } }
    }

    private static func withOwnCluster<Value: Sendable>(
        _ body: (TestDatabase, _ directory: String) async throws -> Value
    ) async throws -> Value {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-\(UUID().uuidString.prefix(8))").path
        var configuration = EmbeddedCluster.Configuration(directory: directory + "/primary")
        configuration.settings = ["fsync": "off", "full_page_writes": "off"]
        let cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
        defer {
            cluster.abandon()
            for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
                try? FileManager.default.removeItem(atPath: directory)
                usleep(20_000)
            }
        }
        let database = TestDatabase(url: cluster.url)
        _ = try await database.withClient { try await Migrator(client: $0).migrate() }
        return try await body(database, directory)
    }

    /// Creates a migrated database in a cluster of its own, with a streaming standby.
    /// - Parameter settings: further lines of the standby's `postgresql.conf`
    public static func withStandby<Value: Sendable>(
        settings: [String: String] = [:], _ body: (TestDatabase, TestStandby) async throws -> Value
    ) async throws -> Value {
        try await Capacity.processes.use(2) {
            try await withOwnCluster { database, directory in
                let standby = try await TestStandby(
                    of: directory + "/primary/socket", in: directory + "/standby", settings: settings)
                let result: Result<Value, any Error>
                do { result = .success(try await body(database, standby)) } catch { result = .failure(error) }
                await standby.remove()
                return try result.get()
            }
        }
    }

    /// The database as the standby shows it.
    public func on(_ standby: TestStandby) -> TestDatabase { TestDatabase(url: standby.url(database: "postgres")) }
}

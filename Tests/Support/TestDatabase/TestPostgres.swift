internal import EmbeddedPostgres
internal import EventStore
internal import Foundation
internal import Logging
public import Postgres

/// A PostgreSQL in a directory of its own, which a test may stop, kill and freeze: a primary, or a streaming standby of another one.
public actor TestPostgres {
    public struct Failed: Error, CustomStringConvertible {
        public let description: String
    }

    /// For tests whose data need not survive a crash.
    public static let unsafeSettings = ["fsync": "off", "full_page_writes": "off"]

    public nonisolated let directory: String
    private let settings: [String: String]
    private var cluster: EmbeddedCluster?

    /// Starts a new cluster.
    /// - Parameter settings: further settings of PostgreSQL
    public init(in directory: String, settings: [String: String] = [:]) async throws {
        (self.directory, self.settings) = (directory, settings)
        try await start()
    }

    /// Copies a running cluster and starts the copy as its standby.
    public init(standbyOf primary: TestPostgres, in directory: String) async throws {
        self.directory = directory
        settings = [
            "primary_conninfo": "host='\(primary.socketDirectory)' user=humon", "wal_retrieve_retry_interval": "100ms",
        ]
        let copy = directory + "/cluster"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try await Self.run("pg_basebackup", primary.login + ["--pgdata", copy, "--checkpoint", "fast"])
        guard FileManager.default.createFile(atPath: copy + "/standby.signal", contents: nil) else {
            throw Failed(description: "the copy of the cluster is no standby")
        }
        if getuid() == 0 { try await TestProgram.run("/bin/chown", ["-R", "postgres", copy]) }
        try await start()
    }

    /// Runs one of PostgreSQL's own programs to its end.
    /// - Throws: as `TestProgram.run(_:_:)`, `EmbeddedPostgresError`
    public static func run(_ program: String, _ arguments: [String]) async throws {
        let programs = try await PostgresInstallation.find(in: nil, majorVersion: nil).directory
        try await TestProgram.run("\(programs)/\(program)", arguments)
    }

    public nonisolated var socketDirectory: String { "\(directory)/cluster" }
    /// The options with which PostgreSQL's programs connect.
    public nonisolated var login: [String] { ["--host", socketDirectory, "--username", "humon"] }

    public nonisolated func url(database: String = "postgres") -> String {
        "host='\(socketDirectory)' user=humon dbname=\(database)"
    }

    public nonisolated func database(_ name: String = "postgres") -> TestDatabase { TestDatabase(url: url(database: name)) }

    public func start() async throws {
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        configuration.superuser = "humon"
        configuration.settings = settings
        cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
    }

    /// Shuts PostgreSQL down.
    public func stop() async throws {
        try await cluster?.stop()
        cluster = nil
    }

    /// Kills all processes without a shutdown. PostgreSQL recovers at the next start.
    public func kill() async throws {
        guard let processes = signal(SIGKILL) else { throw Failed(description: "PostgreSQL does not run in \(directory)") }
        try await eventually("PostgreSQL to be gone") { processes.allSatisfy { Foundation.kill($0, 0) != 0 } }
        cluster?.leave()
        cluster = nil
    }

    /// Stops every process for this time, as on a machine that is paused.
    public nonisolated func freeze(_ time: Duration) async throws {
        guard let processes = signal(SIGSTOP) else { throw Failed(description: "PostgreSQL does not run in \(directory)") }
        try? await Task.sleep(for: time)
        for process in processes { Foundation.kill(process, SIGCONT) }
    }

    /// Kills all processes without a shutdown, and removes the files. Needs no task, so that it can run at the end of the process.
    public nonisolated func remove() {
        _ = signal(SIGQUIT)
        // PostgreSQL takes a moment to end, and writes until then.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
            try? FileManager.default.removeItem(atPath: directory)
            usleep(20_000)
        }
    }

    /// Makes the standby a primary.
    public nonisolated func promote() async throws {
        try await administer { client in
            guard try await client.query("SELECT pg_promote(true, 60)").decode(Bool.self) == [true] else {
                throw Failed(description: "the standby was not promoted")
            }
        }
    }

    /// Runs the body with a client of the superuser.
    @discardableResult
    public nonisolated func administer<Value: Sendable>(
        database: String = "postgres", _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgresConfiguration(url: url(database: database))
        configuration.connections = 1
        configuration.acquireTimeoutSeconds = 30
        configuration.statementTimeoutSeconds = 120
        return try await withPostgres(configuration, logger: .quiet, body)
    }

    /// - Returns: the processes that got the signal; the postmaster comes first, so that it starts no further ones. `nil` if none runs
    private nonisolated func signal(_ signal: Int32) -> [Int32]? {
        let file = try? String(contentsOfFile: "\(directory)/cluster/postmaster.pid", encoding: .utf8)
        guard let postmaster = file?.split(separator: "\n").first.flatMap({ Int32($0) }) else { return nil }
        Foundation.kill(postmaster, signal)
        let children = Self.children(of: postmaster)
        for process in children { Foundation.kill(process, signal) }
        return [postmaster] + children
    }

    /// Without /proc the list is empty: the children notice by themselves that their postmaster is dead.
    private static func children(of process: Int32) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return processes.filter { candidate in
            let status = try? String(contentsOfFile: "/proc/\(candidate)/status", encoding: .utf8)
            return status?.contains("\nPPid:\t\(process)\n") == true
        }
    }
}

extension TestDatabase {
    /// Creates a migrated database in a cluster of its own.
    public static func withCluster<Value: Sendable>(_ body: (TestDatabase) async throws -> Value) async throws -> Value {
        try await Capacity.processes.use {
            let directory = FileManager.default.temporaryDirectory.appending(path: "humon-\(UUID().uuidString.prefix(8))").path
            let postgres = try await TestPostgres(in: directory, settings: TestPostgres.unsafeSettings)
            defer { postgres.remove() }
            _ = try await postgres.administer { try await LogSchema(projections: [], client: $0).migrate() }
            return try await body(postgres.database())
        }
    }
}

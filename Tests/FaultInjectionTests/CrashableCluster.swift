import EmbeddedPostgres
import Foundation
import Postgres
import Synchronization
import SystemPackage
import TestDatabase

/// A PostgreSQL that can be killed. As in production and unlike in other tests, fsync is on.
actor CrashableCluster {
    static let database = "humon"

    nonisolated let directory: String
    private let settings: [String: String]
    private var cluster: EmbeddedCluster

    init(directory: String, settings: [String: String] = [:]) async throws {
        self.directory = directory
        self.settings = settings
        cluster = try await Self.start(directory, settings)
        try await withClient(database: "postgres") { try await $0.query("CREATE DATABASE \(identifier: Self.database)") }
    }

    /// A standby that was promoted.
    init(promoted standby: TestStandby) async throws {
        directory = standby.directory
        settings = [:]
        cluster = try await standby.handOver()
    }

    nonisolated var socketDirectory: String { "\(directory)/socket" }

    nonisolated func url(database: String = CrashableCluster.database) -> String {
        "host='\(socketDirectory)' user=humon dbname=\(database) application_name=fault_injection"
    }

    /// Connects directly, not through the proxy.
    @discardableResult
    nonisolated func withClient<Value: Sendable>(
        database: String = CrashableCluster.database, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgresConfiguration(url: url(database: database))
        configuration.connections = 1
        configuration.acquireTimeoutSeconds = 30
        configuration.statementTimeoutSeconds = 120
        return try await withPostgres(configuration, logger: .quiet, body)
    }

    /// Kills all processes of the cluster with SIGKILL and starts the cluster again, which then recovers.
    func crash() async throws {
        try await kill()
        cluster = try await Self.start(directory, settings)
    }

    /// Kills all processes of the cluster with SIGKILL.
    func kill() async throws {
        let processes = try signal(SIGKILL)
        try await wait(for: "PostgreSQL to be gone") { processes.allSatisfy { Foundation.kill($0, 0) != 0 } }
        cluster.abandon()
    }

    /// The primary acknowledges a commit only when the standby has it, from now on.
    nonisolated func requireStandby() async throws {
        try await withClient { client in
            try await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try await client.query("SELECT pg_reload_conf()")
            try await wait(for: "a synchronous standby") {
                try await client.query("SELECT sync_state FROM pg_stat_replication").decode(String.self) == ["sync"]
            }
        }
    }

    /// Stops every process of the cluster for this time, as on a machine that is paused.
    func pause(_ time: Duration) async throws {
        let processes = try signal(SIGSTOP)
        try? await Task.sleep(for: time)
        for process in processes { Foundation.kill(process, SIGCONT) }
    }

    /// - Returns: the processes that got the signal; the postmaster comes first, so that it starts no further ones
    private func signal(_ signal: Int32) throws -> [Int32] {
        let postmaster = try postmaster()
        Foundation.kill(postmaster, signal)
        let children = Self.children(of: postmaster)
        for process in children { Foundation.kill(process, signal) }
        return [postmaster] + children
    }

    func stop() async throws { try await cluster.stop() }

    /// Kills the cluster without a shutdown, at the end of a run.
    func remove() {
        cluster.abandon()
        // PostgreSQL takes a moment to end, and writes until then.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: directory) {
            try? FileManager.default.removeItem(atPath: directory)
            usleep(20_000)
        }
    }

    private static func start(_ directory: String, _ settings: [String: String]) async throws -> EmbeddedCluster {
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        configuration.settings = settings
        return try await EmbeddedCluster.start(configuration, logger: .quiet)
    }

    private func postmaster() throws -> Int32 {
        let text = try String(contentsOfFile: "\(directory)/cluster/postmaster.pid", encoding: .utf8)
        guard let process = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Violation(check: .recovery, sentence: "PostgreSQL has no usable pid file")
        }
        return process
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

/// Runs PostgreSQL's own programs, for dumps.
enum PostgresProgram {
    static func run(_ name: String, _ arguments: [String]) async throws {
        let program = try await PostgresInstallation.find(in: nil, majorVersion: nil).directory.appending(name).string
        do { try await TestProgram.run(program, arguments) } catch let error as TestProgram.Failed {
            throw Violation(check: .restore, sentence: error.description)
        }
    }
}

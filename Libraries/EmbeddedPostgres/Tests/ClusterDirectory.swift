import EmbeddedPostgres
import Foundation
import Logging
import Postgres
import TestDatabase
import TestFixture
import Testing

extension Trait where Self == Fixture<String> {
    /// The path of a directory that does not exist yet, and that is removed with the test: ``directory``.
    static func directory(named name: String = "humon-cluster") -> Self {
        Self { try await withClusterDirectory(named: name, $0) }
    }
}

var directory: String { Fixture.current }

/// Passes the path of a directory that does not exist yet, and removes the directory afterwards.
func withClusterDirectory<Value: Sendable>(
    named name: String = "humon-cluster", _ body: (String) async throws -> Value
) async throws -> Value {
    try await Capacity.processes.use {
        let parent = FileManager.default.temporaryDirectory.appending(path: "humon-\(UUID().uuidString.prefix(8))").path
        defer { try? FileManager.default.removeItem(atPath: parent) }
        return try await body("\(parent)/\(name)")
    }
}

/// Starts a cluster for as long as the body runs.
func withCluster<Value: Sendable>(
    in directory: String, programs: String? = nil, _ body: (EmbeddedCluster) async throws -> Value
) async throws -> Value {
    let cluster = try await start(in: directory, programs: programs)
    let result: Result<Value, any Error>
    do { result = .success(try await body(cluster)) } catch { result = .failure(error) }
    try await cluster.stop()
    return try result.get()
}

func start(in directory: String, programs: String? = nil) async throws -> EmbeddedCluster {
    var configuration = EmbeddedCluster.Configuration(directory: directory, programs: programs)
    configuration.settings = ["fsync": "off"]
    return try await EmbeddedCluster.start(configuration, logger: .quiet)
}

extension EmbeddedCluster {
    /// The rows of one column of text.
    func query(_ statement: SQL) async throws -> [String] {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = 1
        configuration.acquireTimeoutSeconds = 30
        return try await withPostgres(configuration, logger: .quiet) { try await $0.query(statement).decode(String.self) }
    }
}

/// The postmaster of the cluster in a directory, from its `postmaster.pid`.
func postmaster(in directory: String) throws -> Int32? {
    try String(contentsOfFile: "\(directory)/cluster/postmaster.pid", encoding: .utf8).split(separator: "\n").first
        .flatMap { Int32($0) }
}

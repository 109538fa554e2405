import EmbeddedPostgres
import Logging

enum Laptop {
    /// Runs PostgreSQL in a directory of its own for as long as the body runs. The next run finds the same data.
    static func withPostgres<Value: Sendable>(
        in directory: String, _ body: (_ url: String) async throws -> Value
    ) async throws -> Value {
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        configuration.settings = ["shared_buffers": "64MB"]
        let cluster = try await EmbeddedCluster.start(configuration, logger: Logger(label: "laptop"))
        // Starts PostgreSQL again if it dies. A program with a `ServiceGroup` adds the cluster to it instead.
        let watch = Task { await cluster.run() }
        let result: Result<Value, any Error>
        do { result = .success(try await body(cluster.url)) } catch { result = .failure(error) }
        watch.cancel()
        await watch.value
        try await cluster.stop()
        return try result.get()
    }
}

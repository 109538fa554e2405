internal import EventStore
internal import HTTP
internal import Logging
internal import Postgres

extension Database {
    /// Runs the body with the modules, for a command that appends beside the servers. It applies no migration.
    /// - Throws: ``NotUsable``, `FormatConflict` beside servers with conflicting formats, `ReadModelError`, `PostgresError`, and the
    ///   errors of the body
    func appending<Value: Sendable>(
        logger: Logger, _ body: @escaping @Sendable (ComposedModules) async throws -> Value
    ) async throws -> Value {
        try await using(asApplication(connections: 4), logger: logger) { client in
            try await FormatRegistry(Backend.formats, client: client).prepare()
            try await Backend.readModels(client, logger: logger).prepare()
        }
        let backend = Backend(self, connections: 1, logger: logger)
        return try await backend.run(logger: logger) { try await body(backend.modules) }
    }
}

internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// The read models that a command works on.
struct ReadModelChoice: ParsableArguments {
    @Argument(help: "The names of read models, as `humon projections list` prints them.")
    var names: [String] = []

    @Flag(help: "All read models.")
    var all = false

    /// - Throws: `ValidationError`
    func validate() throws {
        guard all != !names.isEmpty else { throw ValidationError("Name read models, or give --all.") }
        do { try ReadModels.check(names, among: Backend.projections) } catch { throw ValidationError("\(error)") }
    }

    /// Runs the body with the chosen read models, with the rights of the application.
    /// - Parameter inBackground: whether with a low priority, for a body that no server waits for
    /// - Throws: ``CommandFailure``, the errors of ``DatabaseOptions/with(_:_:)``, and the errors of the body
    func tending<Value: Sendable>(
        _ options: DatabaseOptions, inBackground: Bool = false, _ body: @Sendable (ReadModels) async throws -> Value
    ) async throws -> Value {
        try await options.with(.existing) { database, logger in
            if inBackground { BackgroundPriority.take() }
            let configuration = Self.configuration(database)
            return try await database.using(inBackground ? configuration.inBackground : configuration, logger: logger) { client in
                try await body(Backend.readModels(client, logger: logger).named(names))
            }
        }
    }

    /// The same for a rebuild, after missing migrations. Only the long statements of the rebuild have a low priority, because appends
    /// wait for the others.
    func rebuilding<Value: Sendable>(
        _ options: DatabaseOptions, _ body: @Sendable (ReadModels) async throws -> Value
    ) async throws -> Value {
        try await options.with(.existing) { database, logger in
            if try await database.lacksMigrations(logger: logger) { try await database.migrate(logger: logger) }
            return try await database.using(Self.configuration(database), logger: logger) { client in
                try await database.using(Self.configuration(database).inBackground, logger: logger) { background in
                    try await body(Backend.readModels(client, background: background, logger: logger).named(names))
                }
            }
        }
    }

    /// The rows for schemas that a command drops, or would drop.
    static func rows(ofDropped schemas: [String], isTrial: Bool = false) -> [JSONObject] {
        schemas.map { ["schema": .string($0), "state": isTrial ? "would be dropped" : "dropped"] }
    }

    private static func configuration(_ database: Database) -> PostgresConfiguration { database.asApplication(connections: 4) }
}

public import Events
internal import HTTP
internal import Logging
public import Users

/// Runs the modules of `humon serve` with its settings for database and index, for a program with another HTTP server. A benchmark
/// compares the two: docs/decisions/0068-http-server.md
/// - Parameter body: runs as soon as the index is in use
/// - Throws: what `humon serve` throws at its start, and the errors of the body
public func withModules(
    _ body: @escaping @Sendable (_ events: EventsModule, _ users: UsersModule) async throws -> Void
) async throws {
    let settings = try Settings.load()
    let logger = Logger.humon(settings.logLevel, settings.logFormat)
    try await Database.with(settings, .existing, logger: logger) { database in
        try await Backend.prepare(database, logger: logger)
        let backend = Backend(
            database, connections: settings.databaseConnections, memoryBytes: settings.indexMegabytes * 1_000_000, logger: logger)
        let (events, users) = (backend.modules[EventsModule.self], backend.modules[UsersModule.self])
        try await backend.run(logger: logger) {
            await events.untilReady()
            try await body(events, users)
        }
    }
}

internal import EventStore
package import HTTP
internal import Logging

extension Program {
    /// Runs the modules of humon without its HTTP server, on the database and with the index that the settings name. Benchmarks compare
    /// other servers on the same modules.
    /// - Throws: `SettingsError`, what `humon serve` throws at its start, and the errors of the body
    package static func withModules(_ body: @escaping @Sendable (ComposedModules) async throws -> Void) async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel, settings.logFormat)
        try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            try await Backend.prepare(database, logger: logger)
            let backend = Backend(
                database, connections: settings.databaseConnections, memoryBytes: settings.indexMegabytes * 1_000_000,
                logger: logger)
            try await backend.run(logger: logger) { try await body(backend.modules) }
        }
    }
}

package import EventStore
package import HTTP
internal import Logging

/// The modules of humon.
package enum Modules {
    /// The only list: every module, each after the modules that it uses. The server, the doctor, `log verify`, `log import`, the
    /// projections' commands, the demo, the tests and the benchmarks all take the modules from here.
    ///
    /// The list is task-local, so that a test program can run ``Program/main()`` with a further module.
    @TaskLocal package static var all: [APIModule] = [.users, .events, .attendances, .accounts, .tasks]

    /// What the modules register, from the first use on. Ends the process if the list is wrong.
    package static let registered: [Module] = {
        let modules = all.map(\.module)
        do { try Module.check(modules) } catch { fatalError("\(error)") }
        return modules
    }()
}

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

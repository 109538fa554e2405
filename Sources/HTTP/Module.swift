package import EventStore
package import HTTPServer
package import Telemetry

/// A module with its part of the API: what it stores, its initialiser, its metrics and its routes.
public struct Module: Sendable {
    package let stored: StoredModule
    fileprivate let app: ServedApp?
    fileprivate let add: @Sendable (inout Composition) -> Parts

    /// What one module adds to a process.
    fileprivate struct Parts: Sendable {
        var metrics: @Sendable () -> [Metric]
        var routes: @Sendable (API) -> [Route]
    }

    /// - Parameters:
    ///   - app: the app that the module is a part of; `nil` if every server serves it
    ///   - make: makes the module's type that carries out commands and queries, such as `UsersModule`; the composition has the modules that
    ///     stand before this one in the list
    ///   - metrics: the metrics of what the module keeps in memory, at each scrape
    ///   - routes: makes the routes; called once for each ``API``
    package init<Made: Sendable>(
        _ stored: StoredModule, of app: ServedApp?, make: @escaping @Sendable (Composition) -> Made,
        metrics: @escaping @Sendable (Made) -> [Metric] = { _ in [] },
        routes: @escaping @Sendable (Made, API) -> [Route]
    ) {
        (self.stored, self.app) = (stored, app)
        add = { composition in
            let made = make(composition)
            composition.add(made)
            return Parts(metrics: { metrics(made) }, routes: { routes(made, $0) })
        }
    }
}

/// The modules of one process, made on one log and one database.
public struct ComposedModules: Sendable {
    private let composition: Composition
    let apps: Set<ServedApp>
    let metrics: [@Sendable () -> [Metric]]
    let routes: [@Sendable (API) -> [Route]]

    /// Makes each module in the order of the list. A module of an app that is left out is made, too, because others may use it: it has
    /// no metrics and no routes.
    package init(_ modules: [Module], serving apps: Set<ServedApp> = .all, in composition: Composition) {
        var composition = composition
        let parts = modules.compactMap { module in
            let parts = module.add(&composition)
            return module.app.map(apps.contains) ?? true ? parts : nil
        }
        self.apps = apps
        metrics = parts.map(\.metrics)
        routes = parts.map(\.routes)
        self.composition = composition
    }

    /// The module's type that carries out commands and queries, such as `UsersModule`. Ends the process if no module of the list makes it.
    package subscript<Made: Sendable>(type: Made.Type) -> Made { composition[type] }
}

/// An app: what a server serves to one kind of client. What a server leaves out has no routes, no metrics and no pages.
public enum ServedApp: String, Sendable, CaseIterable {
    /// The map of events: users with devices, events, attendances, and the map page.
    case events
    /// The to-do app: accounts and tasks.
    case tasks
}

extension Set<ServedApp> {
    public static let all = Set(ServedApp.allCases)

    /// Reads names that commas separate, such as `events,tasks`.
    /// - Returns: `nil` for an unknown or repeated name, and for no name
    public init?(_ text: String) {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        self.init(names.compactMap(ServedApp.init(rawValue:)))
        guard count == names.count else { return nil }
    }
}

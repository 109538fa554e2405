package import EventStore
package import HTTPServer

/// A module with its part of the API: its registration, its initialiser and its routes.
public struct APIModule: Sendable {
    package let module: Module
    fileprivate let add: @Sendable (inout ModuleContext) -> @Sendable (API) -> [Route]

    /// - Parameters:
    ///   - make: makes the module's type that carries out commands and queries, such as `UsersModule`; the context has the modules that
    ///     stand before this one in the list
    ///   - routes: makes the routes; called once for each ``API``
    package init<Made: Sendable>(
        _ module: Module, make: @escaping @Sendable (ModuleContext) -> Made,
        routes: @escaping @Sendable (Made, API) -> [Route]
    ) {
        self.module = module
        add = { context in
            let made = make(context)
            context.add(made)
            return { routes(made, $0) }
        }
    }
}

/// The modules of one process, made on one log and one database.
public struct ComposedModules: Sendable {
    private let context: ModuleContext
    let routes: [@Sendable (API) -> [Route]]

    /// Makes each module in the order of the list.
    package init(_ modules: [APIModule], in context: ModuleContext) {
        var context = context
        routes = modules.map { $0.add(&context) }
        self.context = context
    }

    /// The module's type that carries out commands and queries, such as `UsersModule`. Ends the process if no module of the list makes it.
    package subscript<Made: Sendable>(type: Made.Type) -> Made { context[type] }
}

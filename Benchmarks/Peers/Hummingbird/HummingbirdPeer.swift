internal import App
internal import Hummingbird
internal import Logging

/// Hummingbird with its router, its default settings and a usual chain of middleware around humon's own modules: what humon would be
/// without a server of its own. docs/decisions/0068-http-server.md
@main
struct HummingbirdPeer {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let port = Int(CommandLine.arguments[1]) else {
            fatalError("Usage: HummingbirdPeer PORT, with the settings of humon serve for database and index")
        }
        var logger = Logger(label: "hummingbird")
        logger.logLevel = .notice
        try await withModules { [logger] events, users in
            let routes = EventRoutes(events: events, users: users)
            let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
            try await Application(router: routes.router, configuration: configuration, logger: logger).runService()
        }
    }
}

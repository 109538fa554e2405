internal import ArgumentParser
internal import Foundation
internal import HTTP
internal import Hummingbird
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `humon serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the v1 API until SIGTERM or Ctrl-C.",
        discussion: """
            Brings a PostgreSQL of its own where DATABASE_URL names none, applies missing migrations and builds missing read models.

            EXAMPLE: humon serve
            """
    )

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        guard settings.databaseURL == nil || settings.appSecret != nil else { throw SettingsError.missingSecret }
        try await Database.with(settings, .asServer, logger: logger) { database in
            try await Backend.prepare(database, logger: logger)
            let (secret, source) = try appSecret(settings)
            let backend = Backend(database, connections: settings.databaseConnections, logger: logger)
            let server = server(for: backend, settings, secret: AppSecret(secret), logger: logger) { port in
                welcome(settings, port: port, secretSource: source)
            }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: backend.services + [server],
                    gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: logger
                )
            )
            try await group.run()
        }
    }

    /// Where the secret can be read, as words of a shell.
    private enum SecretSource {
        case environment
        case file(path: String)
    }

    private func appSecret(_ settings: Settings) throws -> (secret: String, source: SecretSource) {
        let path = URL(fileURLWithPath: Settings.environmentFile).path
        if let secret = settings.appSecret {
            let isFromEnvironment = ProcessInfo.processInfo.environment[Settings.Keys.appSecret.name]?.isEmpty == false
            return (secret, isFromEnvironment ? .environment : .file(path: path))
        }
        let secret = try AppSecretFile.make(at: path)
        print("No TB_APP_SECRET was set: made one and kept it in \(path)")
        return (secret, .file(path: path))
    }

    private func server(
        for backend: Backend, _ settings: Settings, secret: AppSecret, logger: Logger,
        onRunning: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        let api = API(
            users: backend.users,
            events: backend.events,
            attendances: backend.attendances,
            settings: API.Settings(appSecret: secret, reads: settings.reads, bodyLimitBytes: settings.bodyLimitBytes),
            isUnavailability: Backend.isUnavailability,
            checkHealth: backend.checkHealth
        )
        return Application(
            responder: APIResponder(api),
            server: .http1(configuration: .init(idleTimeout: .seconds(Int64(settings.idleTimeoutSeconds)))),
            configuration: ApplicationConfiguration(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? settings.port) },
            logger: logger
        )
    }

    /// The secret itself is never printed: the command reads it where it is.
    private func welcome(_ settings: Settings, port: Int, secretSource: SecretSource) {
        let secret =
            switch secretSource {
            case .environment: "$TB_APP_SECRET"
            case .file(let path): "$(sed -n 's/^TB_APP_SECRET=\\(.\\)/\\1/p' '\(path)')"
            }
        print(
            """
            humon serves on \(settings.address(port: port))
            Database: \(settings.databaseURL == nil ? "a private PostgreSQL in \(settings.data)" : "the one that DATABASE_URL names")
            Try it, in another terminal:

              curl -X POST -H "tb-app-secret: \(secret)" \(settings.address(port: port))/v1/users

            """
        )
        fflush(nil)
    }
}

extension Logger {
    /// Writes to standard error.
    static func humon(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "humon", factory: { LazyLogHandler(StreamLogHandler.standardError(label: $0)) })
        logger.logLevel = level
        return logger
    }
}

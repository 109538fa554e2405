internal import ArgumentParser
internal import Events
internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Telemetry
internal import UnixSignals
internal import Users
internal import Web

/// `humon serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the map of events and the to-do app until SIGTERM or Ctrl-C.",
        discussion: """
            Without DATABASE_URL and --database, the command starts a private PostgreSQL. It applies missing migrations, and builds \
            missing read models.

            EXAMPLE: humon serve
            """
    )

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        // From now on SIGHUP does not end the process.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let settings = try database.settings()
        let logger = Logger.humon(settings.logLevel, settings.logFormat)
        guard settings.databaseURL == nil || settings.appSecret != nil else { throw SettingsError.missingSecret }
        try settings.refuseOpenAdminAddress()
        try await Database.with(settings, .serving, logger: logger) { database in
            try await Backend.prepare(database, logger: logger)
            let (secret, source) = try appSecret(settings)
            let backend = Backend(
                database, connections: settings.databaseConnections, apps: settings.apps,
                memoryBytes: settings.indexMegabytes * 1_000_000,
                eventsPerUser: settings.eventsPerUser, erasureFile: settings.erasureFile, logger: logger)
            let connections = DescriptorLimit.raise(
                for: settings.connections, ofDatabase: settings.databaseConnections, logger: logger)
            let drain = Drain()
            let api = API(
                backend.modules, settings: settings.api(secret: secret), drain: drain,
                mayAnswer: { backend.mayAnswer },
                checkHealth: backend.checkHealth)
            let isPublic = settings.reads == .everyone
            let page = settings.mapPage.map { settings in
                MapPage(
                    settings, users: backend.modules[UsersModule.self],
                    events: isPublic ? backend.modules[EventsModule.self] : nil,
                    tokenHeaders: API.tokenHeaders,
                    unknownTokens: api.limits.unknownTokens, dailySignUps: api.limits.dailySignUps,
                    takeReturn: api.limits.takeReturn)
            }
            let requests = APIRouter(
                api, beside: page?.routes ?? [], behind: page?.middleware ?? [], allowing: settings.corsOrigins,
                log: RequestLog(settings.logFormat, level: settings.logLevel), logger: logger)
            let banner = StartupBanner(
                settings: settings, secret: source, untilReady: backend.modules[EventsModule.self].untilReady,
                isLogEmpty: { settings.databaseURL == nil ? await backend.isLogEmpty() : false })
            let configuration = settings.serverConfiguration(connections: connections, drain: drain)
            let clients = Server(requests.router, configuration, logger: logger, onListening: banner.apiRuns)
            let admin = AdminResponder(
                api, token: settings.adminToken.map { SharedSecret($0) },
                metrics: {
                    await requests.metrics + clients.metrics + backend.metrics() + LogSink.standardError.metrics
                        + ProcessMetrics.now()
                }, logger: logger)
            let operators = Server(
                admin.router, settings.operatorServerConfiguration(), logger: logger, onListening: banner.adminRuns)
            let shutdown = GracefulShutdown(
                drain: drain, drainSeconds: settings.drainSeconds, shutdownSeconds: FixedLimits.shutdownSeconds, logger: logger,
                beforeExit: LogSink.standardError.flush)
            // The operators' address answers until the end, so it stops last.
            let services: [any Service] =
                [operators] + backend.services + [clients, banner, HangUps(signals: hangUps, logger: logger)]
            do { try await shutdown.run(services) } catch let error as IOError where error.errnoCode == EADDRINUSE {
                throw CommandFailure(
                    "Another program listens on HUMON_PORT (\(settings.port)) or on HUMON_ADMIN_PORT (\(settings.adminPort)): name a free port, or 0 for any free port."
                )
            }
        }
    }

    private func appSecret(_ settings: Settings) throws -> (secret: String, source: SettingSource?) {
        if let secret = settings.appSecret { return (secret, settings.source(of: "TB_APP_SECRET")) }
        let path = URL(fileURLWithPath: Settings.environmentFile).path
        let secret = try AppSecretFile.make(at: path)
        print("TB_APP_SECRET was not set: generated a secret and kept it in \(path)")
        return (secret, .environmentFile)
    }
}

internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import Telemetry
internal import UnixSignals
internal import Web

/// Reads the settings again at SIGHUP, and applies those that can change while the server runs. The environment of a process stays as it
/// is, so that new values come from `.env` and from the files of secrets.
final class SettingsReload: Service {
    /// The settings that apply at once; docs/deploying.md lists them. The others apply from the next start.
    static let names: Set<String> = {
        let all = Settings.Declarations.shared
        let declarations: [any SettingDeclaration] = [
            all.appSecret, all.appSecretFile, all.previousAppSecret, all.previousAppSecretFile, all.adminToken,
            all.adminTokenFile,
            all.logLevel, all.signUpsPerMinute, all.signUpsPerDay, all.signInsPerMinute, all.accountSignInsPerMinute,
            all.writesPerMinute, all.addressWritesPerMinute,
            all.sessionsPerMinute, all.allSessionsPerMinute, all.requests,
        ]
        return Set(declarations.map(\.name))
    }()

    /// The parts of the server that can change.
    struct Parts: Sendable {
        var logThreshold: LogThreshold
        var api: API.Settings
        /// `nil` without the map page.
        var page: MapPage.Settings?
        var inFlight: InFlightRequests
    }

    private let signals: UnixSignalsSequence
    private let load: @Sendable () throws -> Settings
    private let started: Settings
    private let current: Mutex<Settings>
    private let parts: Parts
    private let logger: Logger
    private let hadTerminal = isatty(STDIN_FILENO) == 1

    /// - Parameters:
    ///   - signals: SIGHUP, trapped since the process began to start
    ///   - settings: the settings in force
    ///   - load: reads the settings again
    init(
        at signals: UnixSignalsSequence, _ settings: Settings, of parts: Parts, logger: Logger,
        load: @escaping @Sendable () throws -> Settings
    ) {
        self.signals = signals
        self.load = load
        started = settings
        current = Mutex(settings)
        self.parts = parts
        self.logger = logger
    }

    /// The bearer token for operators that is in force.
    var adminToken: AdminToken? { current.withLock(\.adminToken).map(AdminToken.init) }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            for await _ in signals {
                // The system also sends SIGHUP when the terminal of the process closes.
                if hadTerminal, isatty(STDIN_FILENO) == 0 { kill(getpid(), SIGTERM) } else { await reload() }
            }
        }
        // The end of one service would end all services.
        try? await gracefulShutdown()
    }

    private func reload() async {
        let new: Settings
        do { new = try load() } catch {
            return logger.error("the settings were not reloaded", metadata: ["error": "\(error)"])
        }
        let changed = current.withLock { $0.changes(to: new) }.filter(Self.names.contains)
        if let secret = new.appSecret { parts.api.appSecret.change(to: secret, previous: new.previousAppSecret) }
        parts.logThreshold.level = new.logLevel
        parts.api.signUpsPerMinute.number = new.signUpsPerMinute
        parts.api.signUpsPerDay.number = new.signUpsPerDay
        parts.api.signInsPerMinute.number = new.signInsPerMinute
        parts.api.accountSignInsPerMinute.number = new.accountSignInsPerMinute
        parts.api.writesPerMinute.number = new.writesPerMinute
        parts.api.addressWritesPerMinute.number = new.addressWritesPerMinute
        parts.page?.sessionsPerMinute.number = new.sessionsPerMinute
        parts.page?.allSessionsPerMinute.number = new.allSessionsPerMinute
        parts.inFlight.waitingLimit = new.requests
        // Without a token other machines might use the operators' address, so that a token can change and not go.
        if new.adminToken != nil || started.adminToken == nil { current.withLock { $0 = new } }
        logger.notice("the settings were reloaded", metadata: ["changed": .array(changed.map { "\($0)" })])
        let late = started.changes(to: new).filter { !Self.names.contains($0) }
        guard !late.isEmpty else { return }
        logger.warning("these settings apply from the next start", metadata: ["settings": .array(late.map { "\($0)" })])
    }
}

internal import Configuration
internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import SystemPackage
internal import Telemetry

/// Everything that can be set, from the environment and, behind it, `.env` in the working directory.
struct Settings: Sendable {
    var appSecret: String?
    var appSecretFile: String?
    var databaseURL: String?
    var host: String
    var port: Int
    var socket: String?
    var socketMode: UInt32
    var tlsCertificate: String?
    var tlsKey: String?
    var data: String
    var postgresPrograms: String?
    var migrates: Bool
    var databaseConnections: Int
    var isDatabasePooled: Bool
    var statementTimeoutSeconds: Int
    var trustedProxies: TrustedProxies
    var reads: API.Reads
    var corsOrigins: CORSOrigins
    var bodyLimitBytes: Int
    var targetLimitBytes: Int
    var headerLimitBytes: Int
    var arrivalTimeoutSeconds: Int
    var answerTimeoutSeconds: Int
    var idleTimeoutSeconds: Int
    var connections: Int
    var requests: Int
    var bufferMegabytes: Int
    var signUpsPerMinute: Int
    var writesPerMinute: Int
    var drainSeconds: Int
    var shutdownSeconds: Int
    var indexMegabytes: Int
    var adminHost: String
    var adminPort: Int
    var adminToken: String?
    var logLevel: Logger.Level
    var logFormat: LogFormat
    var traces: Traces
    var tracesRatio: Double
}

extension Settings {
    static let environmentFile = ".env"

    /// - Parameter refusesUnknown: no other command but the doctor goes on with a misspelt setting
    /// - Throws: ``SettingsError`` for an unusable value and for an unknown `HUMON_…` name.
    static func load(refusesUnknown: Bool = true) async throws -> Settings {
        let path = FilePath(environmentFile)
        let reader = ConfigReader(providers: [
            // An empty variable is one that is not set: it must not hide the one in the file.
            EnvironmentVariablesProvider(environmentVariables: ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }),
            try await EnvironmentVariablesProvider(environmentFilePath: path, allowMissing: true),
        ])
        let file = (try? String(contentsOfFile: environmentFile, encoding: .utf8)) ?? ""
        if refusesUnknown {
            try refuseUnknown(among: Array(ProcessInfo.processInfo.environment.keys) + names(inEnvironmentFile: file))
        }
        return try Settings(reader)
    }

    init(_ reader: ConfigReader) throws(SettingsError) {
        appSecret = try Keys.appSecret.read(from: reader, orIn: Keys.appSecretFile)
        appSecretFile = try Keys.appSecretFile.read(from: reader)
        databaseURL = try Keys.databaseURL.read(from: reader, orIn: Keys.databaseURLFile)
        host = try Keys.host.read(from: reader) ?? "127.0.0.1"
        port = try Keys.port.read(from: reader) ?? 8080
        socket = try Keys.socket.read(from: reader)
        socketMode = try Keys.socketMode.read(from: reader) ?? 0o660
        tlsCertificate = try Keys.tlsCertificate.read(from: reader)
        tlsKey = try Keys.tlsKey.read(from: reader)
        data = try Keys.data.read(from: reader) ?? Self.defaultData
        postgresPrograms = try Keys.postgresPrograms.read(from: reader)
        migrates = try Keys.migrates.read(from: reader) ?? true
        databaseConnections = try Keys.databaseConnections.read(from: reader) ?? 4
        isDatabasePooled = try Keys.isDatabasePooled.read(from: reader) ?? false
        statementTimeoutSeconds = try Keys.statementTimeout.read(from: reader) ?? 10
        trustedProxies = try Keys.trustedProxies.read(from: reader) ?? .loopback
        reads = try Keys.reads.read(from: reader) ?? .everyone
        corsOrigins = try Keys.corsOrigins.read(from: reader) ?? .none
        bodyLimitBytes = try Keys.bodyLimit.read(from: reader) ?? 65_536
        targetLimitBytes = try Keys.targetLimit.read(from: reader) ?? 8_192
        headerLimitBytes = try Keys.headerLimit.read(from: reader) ?? 32_768
        arrivalTimeoutSeconds = try Keys.arrivalTimeout.read(from: reader) ?? 20
        answerTimeoutSeconds = try Keys.answerTimeout.read(from: reader) ?? 30
        idleTimeoutSeconds = try Keys.idleTimeout.read(from: reader) ?? 75
        connections = try Keys.connections.read(from: reader) ?? 10_000
        requests = try Keys.requests.read(from: reader) ?? 256
        bufferMegabytes = try Keys.buffer.read(from: reader) ?? 256
        signUpsPerMinute = try Keys.signUpsPerMinute.read(from: reader) ?? 0
        writesPerMinute = try Keys.writesPerMinute.read(from: reader) ?? 0
        drainSeconds = try Keys.drain.read(from: reader) ?? 0
        shutdownSeconds = try Keys.shutdown.read(from: reader) ?? 20
        indexMegabytes = try Keys.index.read(from: reader) ?? 1_024
        adminHost = try Keys.adminHost.read(from: reader) ?? "127.0.0.1"
        adminPort = try Keys.adminPort.read(from: reader) ?? 8081
        adminToken = try Keys.adminToken.read(from: reader, orIn: Keys.adminTokenFile)
        logLevel = try Keys.logLevel.read(from: reader) ?? .notice
        logFormat = try Keys.logFormat.read(from: reader) ?? .text
        traces = try Keys.traces.read(from: reader) ?? .none
        tracesRatio = try Keys.tracesRatio.read(from: reader) ?? 1
    }

    /// A misspelt setting would be ignored in silence.
    static func refuseUnknown(among names: [String]) throws(SettingsError) {
        let known = Set(Keys.all.map(\.name))
        if let unknown = names.sorted().first(where: { $0.hasPrefix("HUMON_") && !known.contains($0) }) {
            throw .unknown(name: unknown)
        }
    }

    private static func names(inEnvironmentFile text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.hasPrefix("#")
                ? nil : line.split(separator: "=", maxSplits: 1).first.map { String($0).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// What a client on this machine writes before a path.
    func address(port: Int) -> String {
        let scheme = tlsCertificate == nil ? "http" : "https"
        return socket == nil ? Self.address(scheme, host, port) : "\(scheme)://localhost"
    }

    /// What the operator's tools ask.
    func adminAddress(port: Int) -> String { Self.address("http", adminHost, port) }

    /// - Throws: ``SettingsError`` if other machines could reach the operators' address and it asked for no token.
    func refuseOpenAdminAddress() throws(SettingsError) {
        guard adminToken != nil || Self.isLoopback(adminHost) else { throw .missingAdminToken(host: adminHost) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        return host == "::1" || host.lowercased() == "localhost"
    }

    private static func address(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    private static var defaultData: String {
        if getuid() == 0 { return "/var/lib/humon" }
        let environment = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        return (environment ?? home + "/.local/share") + "/humon"
    }
}

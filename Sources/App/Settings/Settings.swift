internal import Foundation
internal import HTTPServer
internal import Telemetry

/// The settings in force: from the command line, the environment, and `.env` in the working directory. `settings.port` is the value
/// of the setting that ``Declarations`` declares as `port`.
@dynamicMemberLookup
struct Settings: Sendable {
    static let environmentFile = ".env"

    /// By the names of the settings.
    private var resolved: [String: any ResolvedSetting] = [:]

    /// - Throws: ``SettingsError`` for the first unusable value
    init(_ sources: SettingSources) throws(SettingsError) {
        for setting in Declarations.all { resolved[setting.name] = try setting.resolve(from: sources) }
    }

    subscript<Value>(dynamicMember path: KeyPath<Declarations, Setting<Value>>) -> Value { self[path].value }

    /// The source of a value.
    func source<Value>(of path: KeyPath<Declarations, Setting<Value>>) -> SettingSource { self[path].source }

    private subscript<Value>(path: KeyPath<Declarations, Setting<Value>>) -> Setting<Value>.Resolved {
        let name = Declarations.shared[keyPath: path].name
        guard let found = resolved[name] as? Setting<Value>.Resolved else { preconditionFailure("\(name) is resolved at start") }
        return found
    }
}

extension Settings {
    /// - Parameters:
    ///   - database: the URL from the command line, which replaces `DATABASE_URL` and `DATABASE_URL_FILE`
    ///   - refusesUnknown: only the doctor continues with a misspelt setting
    /// - Throws: ``SettingsError`` for an unusable value, an unknown `HUMON_…` name, and a line of `.env` that cannot be read
    static func load(database: String? = nil, refusesUnknown: Bool = true) throws(SettingsError) -> Settings {
        let name = Declarations.shared.databaseURL.name
        let sources = try SettingSources(commandLine: database.map { [name: $0] } ?? [:])
        if refusesUnknown { try refuseUnknown(among: sources.names) }
        return try Settings(sources)
    }

    /// Without this check a misspelt setting would be ignored silently.
    /// - Throws: ``SettingsError/unknown(name:)``
    static func refuseUnknown(among names: [String]) throws(SettingsError) {
        if let unknown = unknown(among: names).first { throw .unknown(name: unknown) }
    }

    /// The names with the prefix `HUMON_` that are no settings.
    static func unknown(among names: [String]) -> [String] {
        let known = Set(Declarations.all.map(\.name))
        return Set(names).filter { $0.hasPrefix("HUMON_") && !known.contains($0) }.sorted()
    }

    /// The base URL of the API for a client on this machine.
    func address(port: Int) -> String { Self.address(self.host, port) }

    /// The base URL of the operators' address.
    func adminAddress(port: Int) -> String { Self.address(self.adminHost, port) }

    /// The database that commands work on, without its URL, which may contain a password.
    var databaseDescription: String {
        switch source(of: \.databaseURL) {
        case .byDefault: "the private PostgreSQL in \(self.data)"
        case .commandLine: "the database that --database names"
        case .environment, .environmentFile: "the database that DATABASE_URL names"
        case .file: "the database that DATABASE_URL_FILE names"
        }
    }

    /// - Throws: ``SettingsError/missingAdminToken(host:)`` if other machines can reach the operators' address without a token
    func refuseOpenAdminAddress() throws(SettingsError) {
        guard self.adminToken != nil || Self.isLoopback(self.adminHost) else { throw .missingAdminToken(host: self.adminHost) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        NetworkAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    private static func address(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// The reason why the settings cannot be used; stops the command.
enum SettingsError: Error, Hashable, CustomStringConvertible {
    case unusable(name: String, format: String)
    case unknown(name: String)
    case quoted(name: String)
    case setTwice(name: String, fileName: String)
    case unreadable(fileName: String, reason: String)
    /// - Parameter line: from 1; `nil` for the whole file
    case unreadableEnvironment(path: String, line: Int?, reason: String)
    case missingSecret
    case missingAdminToken(host: String)

    var description: String {
        switch self {
        case .unusable(let name, let format): "\(name) must be \(format)."
        case .unknown(let name): "\(name) is not a setting of humon; `humon settings` lists the settings."
        case .quoted(let name): "\(name) has quotes around its value: take them away."
        case .setTwice(let name, let fileName): "Both \(name) and \(fileName) are set: set one of them."
        case .unreadable(let fileName, let reason): "The file that \(fileName) names \(reason)."
        case .unreadableEnvironment(let path, let line, let reason):
            "\(line.map { "Line \($0) of" } ?? "The file") \(path) cannot be read: \(reason)"
        case .missingSecret:
            "TB_APP_SECRET is not set. With a DATABASE_URL humon generates no secret: set the secret that the app sends in tb-app-secret."
        case .missingAdminToken(let host):
            "Other machines can reach the operators' address (HUMON_ADMIN_HOST is \(host)): set HUMON_ADMIN_TOKEN, or HUMON_ADMIN_TOKEN_FILE."
        }
    }
}

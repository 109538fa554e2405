/// The reason why the settings cannot be used; stops the command.
enum SettingsError: Error, Hashable, CustomStringConvertible {
    case unusable(name: String, format: String)
    /// - Parameter nearest: the name of a setting that was perhaps meant
    case unknown(name: String, nearest: String?)
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
        case .unknown(let name, let nearest?): "\(name) is not a setting of humon; did you mean \(nearest)?"
        case .unknown(let name, nil):
            "\(name) is not a setting of humon \(Version.current): take it out, as when you go back from a newer release that has it. `humon settings` lists the settings."
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

internal import Configuration
internal import Foundation

/// One setting: its name, its default and a sentence about it. All of them stand in ``Settings``.
struct Setting<Value: Sendable>: Sendable {
    var name: String
    var help: String
    /// As `humon settings` and the README show it.
    var shownDefault: String
    var isSecret = false
    /// nil for a text that is unusable.
    var parse: @Sendable (String) -> Value?
    /// What an unusable value should have been: "a whole number from 1 to 65535".
    var expectation: String
}

/// Why the settings cannot be used; stops the start.
enum SettingsError: Error, Hashable, CustomStringConvertible {
    case unusable(name: String, expectation: String)
    case unknown(name: String)
    case setTwice(name: String, fileName: String)
    case unreadable(fileName: String, reason: String)
    case missingSecret
    case missingAdminToken(host: String)

    var description: String {
        switch self {
        case .unusable(let name, let expectation): "\(name) must be \(expectation)."
        case .unknown(let name): "\(name) is not a setting of humon; `humon settings` lists those there are."
        case .setTwice(let name, let fileName): "Both \(name) and \(fileName) are set: set one of them."
        case .unreadable(let fileName, let reason): "The file that \(fileName) names \(reason)."
        case .missingSecret:
            "TB_APP_SECRET is not set. With a DATABASE_URL humon makes none up: set the secret that the app sends in tb-app-secret."
        case .missingAdminToken(let host):
            "Other machines can reach the operators' address (HUMON_ADMIN_HOST is \(host)): set HUMON_ADMIN_TOKEN, or HUMON_ADMIN_TOKEN_FILE."
        }
    }
}

extension Setting {
    /// The value in the environment or `.env`; nil where it is not set or empty.
    func read(from reader: ConfigReader) throws(SettingsError) -> Value? {
        let key = ConfigKey(name.lowercased().split(separator: "_").map(String.init))
        guard let text = reader.string(forKey: key, isSecret: isSecret), !text.isEmpty else { return nil }
        guard let value = parse(text) else { throw .unusable(name: name, expectation: expectation) }
        return value
    }
}

extension Setting where Value == String {
    static func text(_ name: String, _ help: String, shownDefault: String, isSecret: Bool = false) -> Setting {
        Setting(
            name: name, help: help, shownDefault: shownDefault, isSecret: isSecret, parse: { $0 }, expectation: "a text")
    }

    /// The value, or what stands in the file that another setting names: without the end of its line, which editors add.
    func read(from reader: ConfigReader, orIn file: Setting<String>) throws(SettingsError) -> String? {
        let value = try read(from: reader)
        guard let path = try file.read(from: reader) else { return value }
        guard value == nil else { throw .setTwice(name: name, fileName: file.name) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .unreadable(fileName: file.name, reason: "cannot be read")
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !text.isEmpty else { throw .unreadable(fileName: file.name, reason: "is empty") }
        guard let value = parse(text) else {
            throw .unusable(name: file.name, expectation: "the name of a file with \(expectation)")
        }
        return value
    }
}

extension Setting where Value == Int {
    static func number(_ name: String, _ help: String, default value: Int, in range: ClosedRange<Int>) -> Setting {
        Setting(
            name: name,
            help: help,
            shownDefault: String(value),
            parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } },
            expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
    }
}

extension Setting where Value == Bool {
    static func flag(_ name: String, _ help: String, default value: Bool) -> Setting {
        Setting(
            name: name,
            help: help,
            shownDefault: String(value),
            parse: { ["true": true, "1": true, "yes": true, "false": false, "0": false, "no": false][$0.lowercased()] },
            expectation: "true or false"
        )
    }
}

extension Setting {
    static func choice(_ name: String, _ help: String, default value: Value, of choices: [Value]) -> Setting
    where Value: RawRepresentable<String> {
        Setting(
            name: name,
            help: help,
            shownDefault: value.rawValue,
            parse: { text in choices.first { $0.rawValue == text } },
            expectation: "one of " + choices.map(\.rawValue).joined(separator: ", ")
        )
    }
}

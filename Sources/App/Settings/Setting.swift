/// One setting: its name, help, default, format and secrecy. ``Settings/Declarations`` declares each setting once.
struct Setting<Value: Sendable>: SettingDeclaration {
    /// The name of the environment variable.
    let name: String
    let help: String
    let defaultValue: @Sendable () -> Value
    /// The default as a user would write it; empty if there is none.
    let defaultText: @Sendable () -> String
    /// The default as the reference page shows it: the text, or a description of how the default is found.
    let documentedDefault: String
    /// The format of a value: "a whole number from 1 to 65535".
    let format: String
    let isSecret: Bool
    /// The setting that names a file with the value.
    let fileName: String?
    /// Returns `nil` for a text that does not have the format.
    let parse: @Sendable (String) -> Value?

    /// - Parameters:
    ///   - documentedDefault: `nil`: the text of the default
    ///   - fileName: the setting that names a file with the value; `nil`: the value comes from no file
    init(
        _ name: String, _ help: String, default value: @escaping @autoclosure @Sendable () -> Value,
        text: @escaping @autoclosure @Sendable () -> String, documentedDefault: String? = nil, format: String,
        isSecret: Bool = false, fileName: String? = nil, parse: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.help, self.format, self.isSecret, self.fileName) = (name, help, format, isSecret, fileName)
        (defaultValue, defaultText, self.parse) = (value, text, parse)
        self.documentedDefault = documentedDefault ?? text()
    }
}

/// A setting whatever the type of its value.
protocol SettingDeclaration: Sendable {
    var name: String { get }
    var help: String { get }
    var documentedDefault: String { get }
    var format: String { get }
    var isSecret: Bool { get }

    /// Finds the value that is in force.
    /// - Throws: ``SettingsError``
    func resolve(from sources: SettingSources) throws(SettingsError) -> any ResolvedSetting
}

/// The value of a setting that is in force, whatever its type.
protocol ResolvedSetting: Sendable {
    /// The value as the user wrote it, or the default; `nil` if the value is secret.
    var text: String? { get }
    var source: SettingSource { get }
}

/// The place that a value comes from.
enum SettingSource: String, Sendable, Hashable {
    case byDefault = "default"
    case commandLine = "command line"
    case environment
    case environmentFile = ".env"
    /// The file that the setting with the suffix `_FILE` names.
    case file
}

extension Setting {
    struct Resolved: ResolvedSetting {
        let value: Value
        let text: String?
        let source: SettingSource
    }

    /// - Throws: ``SettingsError``
    func resolve(from sources: SettingSources) throws(SettingsError) -> any ResolvedSetting {
        guard let found = try sources.text(of: name, orInFileOf: fileName) else {
            return Resolved(value: defaultValue(), text: isSecret ? "" : defaultText(), source: .byDefault)
        }
        // `docker run --env-file` and systemd's Environment= keep them; as a part of a path they would make a new directory.
        guard isSecret || !["\"", "'"].contains(where: { found.text.hasPrefix($0) && found.text.hasSuffix($0) }) else {
            throw .quoted(name: name)
        }
        guard let value = parse(found.text) else {
            guard found.source == .file, let fileName else { throw .unusable(name: name, format: format) }
            throw .unusable(name: fileName, format: "the path of a file that holds \(format)")
        }
        return Resolved(value: value, text: isSecret ? nil : found.text, source: found.source)
    }
}

extension Setting where Value == String {
    static func text(_ name: String, _ help: String, default value: String, format: String = "a text") -> Setting {
        Setting(name, help, default: value, text: value, format: format, parse: { $0 })
    }
}

extension Setting where Value == String? {
    /// A text without a default.
    static func optional(
        _ name: String, _ help: String, documentedDefault: String = "none", format: String = "a text", isSecret: Bool = false,
        fileName: String? = nil, isValid: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> Setting {
        Setting(
            name, help, default: nil, text: "", documentedDefault: documentedDefault, format: format, isSecret: isSecret,
            fileName: fileName, parse: { isValid($0) ? .some($0) : nil })
    }

    /// The path of a file or directory.
    static func path(_ name: String, _ help: String, documentedDefault: String = "none") -> Setting {
        optional(name, help, documentedDefault: documentedDefault, format: "a path")
    }
}

extension Setting where Value == Int {
    static func number(_ name: String, _ help: String, default value: Int, in range: ClosedRange<Int>) -> Setting {
        Setting(
            name, help, default: value, text: String(value),
            format: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } })
    }
}

extension Setting where Value == Bool {
    static func flag(_ name: String, _ help: String, default value: Bool) -> Setting {
        Setting(
            name, help, default: value, text: String(value), format: "true or false",
            parse: { ["true": true, "1": true, "yes": true, "false": false, "0": false, "no": false][$0.lowercased()] })
    }
}

extension Setting where Value: RawRepresentable<String> & CaseIterable {
    static func choice(_ name: String, _ help: String, default value: Value) -> Setting {
        let choices = Array(Value.allCases.map(\.rawValue))
        return Setting(
            name, help, default: value, text: value.rawValue, format: "one of " + choices.joined(separator: ", "),
            parse: { Value(rawValue: $0) })
    }
}

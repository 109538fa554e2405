internal import Foundation

/// A setting as it was read: a row of `humon settings` and of docs/settings.md.
struct Setting: Sendable {
    /// The name of the environment variable.
    let name: String
    let help: String
    /// The form of a value: "a whole number from 1 to 65535".
    let format: String
    /// The default as docs/settings.md shows it: the text, or a description of how the default is found.
    let documentedDefault: String
    /// Whether no value is shown, and ``fileName`` can name a file with the value.
    let isSecret: Bool
    /// The value as the user wrote it, or the default; `nil` if the value is secret or cannot be used.
    let text: String?
    /// The place of the value; `nil` if the value cannot be used.
    let source: SettingSource?

    /// The settings that came later than the first release, each with its release.
    static let laterReleases: [String: String] = [:]

    /// The release that brought the setting.
    var since: String { Self.laterReleases[name] ?? "1.0.0" }

    /// The name of the variable that names a file with the secret.
    static func fileName(of secret: String) -> String { secret + "_FILE" }
}

/// The place that a value comes from.
enum SettingSource: Sendable, Hashable {
    case byDefault
    case commandLine
    case environment
    case environmentFile
    /// The file that the variable with the suffix `_FILE` names.
    case file(path: String)

    /// The place as `humon settings` shows it.
    var name: String {
        switch self {
        case .byDefault: "default"
        case .commandLine: "command line"
        case .environment: "environment"
        case .environmentFile: Settings.environmentFile
        case .file: "file"
        }
    }
}

/// Reads settings one after the other, and keeps each of them.
struct SettingReader {
    typealias Place = (source: SettingSource, values: [String: String])

    private let places: [Place]
    /// The settings so far, in the order of reading.
    private(set) var settings: [Setting] = []
    /// The values that cannot be used. The default is in the place of each.
    private(set) var errors: [SettingsError] = []

    /// - Parameter places: the values of each place by the names of their settings, the strongest place first
    init(places: [Place]) { self.places = places }

    /// A reader of the command line, the environment, and `.env` in the working directory.
    /// - Parameter commandLine: the values from the command line, by the names of their settings
    /// - Throws: ``SettingsError/unreadableEnvironment(path:line:reason:)``
    static func ofProcess(commandLine: [String: String] = [:]) throws(SettingsError) -> SettingReader {
        SettingReader(places: [
            (.commandLine, commandLine), (.environment, ProcessInfo.processInfo.environment),
            (.environmentFile, try EnvironmentFile.values(atPath: Settings.environmentFile)),
        ])
    }

    /// An error for each name with the prefix `HUMON_` that no setting has that was read. Without it a misspelt setting would be ignored
    /// silently.
    var unknownNames: [SettingsError] {
        let known = Set(settings.flatMap { $0.isSecret ? [$0.name, Setting.fileName(of: $0.name)] : [$0.name] })
        return Set(places.flatMap(\.values.keys)).filter { $0.hasPrefix("HUMON_") && !known.contains($0) }.sorted().map { name in
            // Two letters that changed places, another letter, and up to two that are missing or too many.
            .unknown(name: name, nearest: known.sorted().first { $0.difference(from: name).count <= 2 })
        }
    }

    /// - Parameters:
    ///   - text: the default as a user would write it; empty if there is none
    ///   - documentedDefault: `nil`: the text of the default
    ///   - parse: returns `nil` for a text that does not have the format
    mutating func value<Value>(
        _ name: String, _ help: String, default value: Value, text: String, documentedDefault: String? = nil, format: String,
        isSecret: Bool = false, parse: (String) -> Value?
    ) -> Value {
        var (result, shown, source): (Value, String?, SettingSource?) = (value, text, .byDefault)
        do throws(SettingsError) {
            if let found = try self.text(of: name, isSecret: isSecret) {
                result = try Self.usable(found, name, format, isSecret, parse)
                (shown, source) = (isSecret ? nil : found.text, found.source)
            }
        } catch {
            errors.append(error)
            (shown, source) = (nil, nil)
        }
        settings.append(
            Setting(
                name: name, help: help, format: format, documentedDefault: documentedDefault ?? text, isSecret: isSecret,
                text: shown, source: source))
        return result
    }

    private static func usable<Value>(
        _ found: (text: String, source: SettingSource), _ name: String, _ format: String, _ isSecret: Bool,
        _ parse: (String) -> Value?
    ) throws(SettingsError) -> Value {
        // `docker run --env-file` and systemd's Environment= keep them; as a part of a path they would make a new directory.
        guard isSecret || !["\"", "'"].contains(where: { found.text.hasPrefix($0) && found.text.hasSuffix($0) }) else {
            throw .quoted(name: name)
        }
        if let value = parse(found.text) { return value }
        guard case .file = found.source else { throw .unusable(name: name, format: format) }
        throw .unusable(name: Setting.fileName(of: name), format: "the path of a file that holds \(format)")
    }

    /// The text of a setting and its source; `nil` if the setting is not set or empty.
    private func text(of name: String, isSecret: Bool) throws(SettingsError) -> (text: String, source: SettingSource)? {
        let (found, fileName) = (text(of: name), Setting.fileName(of: name))
        guard isSecret, found?.source != .commandLine, let path = text(of: fileName)?.text else { return found }
        guard found == nil else { throw .setTwice(name: name, fileName: fileName) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .unreadable(fileName: fileName, reason: "cannot be read")
        }
        // Editors end the last line, and some begin with a byte order mark.
        let text = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{FEFF}" }.trimmingCharacters(in: .newlines)
        guard !text.isEmpty else { throw .unreadable(fileName: fileName, reason: "is empty") }
        return (text, .file(path: path))
    }

    private func text(of name: String) -> (text: String, source: SettingSource)? {
        for (source, values) in places {
            // An empty value counts as not set, so that it does not hide a weaker one. On the command line it is a value.
            if let text = values[name], !text.isEmpty || source == .commandLine { return (text, source) }
        }
        return nil
    }
}

extension SettingReader {
    mutating func text(_ name: String, _ help: String, default value: String, format: String) -> String {
        self.value(name, help, default: value, text: value, format: format, parse: { $0 })
    }

    /// A text without a default.
    mutating func optional(
        _ name: String, _ help: String, documentedDefault: String = "none", format: String = "a path", isSecret: Bool = false,
        isValid: (String) -> Bool = { _ in true }
    ) -> String? {
        value(
            name, help, default: nil, text: "", documentedDefault: documentedDefault, format: format, isSecret: isSecret,
            parse: { isValid($0) ? .some($0) : nil })
    }

    mutating func number(_ name: String, _ help: String, default value: Int, in range: ClosedRange<Int>) -> Int {
        self.value(
            name, help, default: value, text: String(value),
            format: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } })
    }

    mutating func flag(_ name: String, _ help: String, default value: Bool) -> Bool {
        self.value(
            name, help, default: value, text: String(value), format: "true or false",
            parse: { ["true": true, "1": true, "yes": true, "false": false, "0": false, "no": false][$0.lowercased()] })
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ help: String, default value: Value
    ) -> Value {
        let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return self.value(
            name, help, default: value, text: value.rawValue, format: "one of " + choices, parse: { Value(rawValue: $0) })
    }
}

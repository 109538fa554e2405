internal import Foundation

/// The places that settings come from, the strongest first: the command line, the environment, and `.env` in the working directory.
struct SettingSources: Sendable {
    /// The values of each place by the names of the settings.
    private let places: [(source: SettingSource, values: [String: String])]

    /// - Parameter commandLine: the values from the command line, by the names of their settings
    /// - Throws: ``SettingsError/unreadableEnvironment(path:line:reason:)``
    init(commandLine: [String: String] = [:]) throws(SettingsError) {
        places = [
            (.commandLine, commandLine), (.environment, ProcessInfo.processInfo.environment),
            (.environmentFile, try EnvironmentFile.values(atPath: Settings.environmentFile)),
        ]
    }

    /// All names in the environment and in `.env`.
    var names: [String] { places.flatMap(\.values.keys) }

    /// The text of a setting and its source; `nil` if the setting is not set or empty.
    /// - Parameter fileName: the setting that names a file with the text
    /// - Throws: ``SettingsError``
    func text(of name: String, orInFileOf fileName: String?) throws(SettingsError) -> (text: String, source: SettingSource)? {
        let found = text(of: name)
        guard found?.source != .commandLine, let fileName, let path = text(of: fileName)?.text else { return found }
        guard found == nil else { throw .setTwice(name: name, fileName: fileName) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .unreadable(fileName: fileName, reason: "cannot be read")
        }
        // Editors end the last line, and some begin with a byte order mark.
        let text = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{FEFF}" }.trimmingCharacters(in: .newlines)
        guard !text.isEmpty else { throw .unreadable(fileName: fileName, reason: "is empty") }
        return (text, .file)
    }

    private func text(of name: String) -> (text: String, source: SettingSource)? {
        for (source, values) in places {
            // An empty value counts as not set, so that it does not hide a weaker one. On the command line it is a value.
            if let text = values[name], !text.isEmpty || source == .commandLine { return (text, source) }
        }
        return nil
    }
}

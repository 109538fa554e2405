internal import Configuration
internal import Foundation
internal import SystemPackage

/// The places that settings come from, the strongest first: the command line, the environment, and `.env` in the working directory.
struct SettingSources: Sendable {
    /// By the names of the settings.
    private let commandLine: [String: String]
    private let readers: [(source: SettingSource, reader: ConfigReader)]
    /// All names in the environment and in `.env`.
    let names: [String]

    /// - Parameter commandLine: the values from the command line, by the names of their settings
    /// - Throws: an error of Configuration if `.env` cannot be read
    init(commandLine: [String: String] = [:]) async throws {
        self.commandLine = commandLine
        let environment = ProcessInfo.processInfo.environment
        let path = Settings.environmentFile
        let file = try await EnvironmentVariablesProvider(environmentFilePath: FilePath(path), allowMissing: true)
        readers = [
            // An empty variable counts as not set: it must not hide the value in the file.
            (
                .environment,
                ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty }))
            ),
            (.environmentFile, ConfigReader(provider: file)),
        ]
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        names = Array(environment.keys) + Self.names(inEnvironmentFile: text)
    }

    /// The text of a setting and its source; `nil` if the setting is not set or empty.
    /// - Parameter fileName: the setting that names a file with the text
    /// - Throws: ``SettingsError``
    func text(of name: String, orInFileOf fileName: String?) throws(SettingsError) -> (text: String, source: SettingSource)? {
        if let text = commandLine[name] { return (text, .commandLine) }
        let found = text(of: name)
        guard let fileName, let path = text(of: fileName)?.text else { return found }
        guard found == nil else { throw .setTwice(name: name, fileName: fileName) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .unreadable(fileName: fileName, reason: "cannot be read")
        }
        // Editors end the last line.
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard !text.isEmpty else { throw .unreadable(fileName: fileName, reason: "is empty") }
        return (text, .file)
    }

    private func text(of name: String) -> (text: String, source: SettingSource)? {
        let key = ConfigKey(name.lowercased().split(separator: "_").map(String.init))
        for (source, reader) in readers {
            if let text = reader.string(forKey: key), !text.isEmpty { return (text, source) }
        }
        return nil
    }

    private static func names(inEnvironmentFile text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.hasPrefix("#")
                ? nil : line.split(separator: "=", maxSplits: 1).first.map { String($0).trimmingCharacters(in: .whitespaces) }
        }
    }
}

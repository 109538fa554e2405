internal import Foundation

/// The file `.env`: one `NAME=VALUE` a line, read as Docker Compose reads it. A line that the two could read differently is refused.
/// Source: Docker's documentation, *Env file syntax*.
enum EnvironmentFile {
    private static let fault = """
        A line must be NAME=VALUE, with or without export before it. Put a value with $, with # or with an unusual space at its end in single \
        quotes, and a value with a backslash in none.
        """

    /// Reads the values of the file by their names. A missing file has no values. The last of several lines with one name counts.
    /// - Throws: ``SettingsError/unreadableEnvironment(path:line:reason:)``, which names the line but shows nothing of it: it may hold a secret
    static func values(atPath path: String) throws(SettingsError) -> [String: String] {
        let data: Data
        let url = URL(fileURLWithPath: path)
        do { data = try Data(contentsOf: url) } catch CocoaError.fileReadNoSuchFile { return [:] } catch {
            // runuser leaves a program in root's directory, which it may not enter: that is as if the file were missing.
            guard FileManager.default.isExecutableFile(atPath: url.deletingLastPathComponent().path) else { return [:] }
            throw .unreadableEnvironment(path: path, line: nil, reason: error.localizedDescription)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw .unreadableEnvironment(path: path, line: nil, reason: "The file must be a text in UTF-8.")
        }
        // A name, and a value in quotes or without, with a comment behind it or none.
        let form =
            /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*(?:(?:'([^'\\]*)'|"([^"\\$]*)")[ \t]*(?:#.*)?|([^'"#$\s](?:[^$\t]|\t(?!#))*?)(?:[ \t]*|[ \t]* #.*)|)/
        var values: [String: String] = [:]
        // The byte order mark is not part of the first name, and CR LF is one Character in Swift.
        let lines = text.drop { $0 == "\u{FEFF}" }.replacing("\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard let first = line.first(where: { !" \t".contains($0) }), first != "#" else { continue }
            let hasControl = line.unicodeScalars.contains { $0 != "\t" && $0.properties.generalCategory == .control }
            guard !hasControl, let match = line.wholeMatch(of: form), match.4?.last?.isWhitespace != true else {
                throw .unreadableEnvironment(path: path, line: index + 1, reason: fault)
            }
            values[String(match.1)] = String(match.2 ?? match.3 ?? match.4 ?? "")
        }
        return values
    }
}

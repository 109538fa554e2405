internal import Foundation

/// The file `.env`: one `NAME=VALUE` a line, read as Docker Compose reads it. A line that the two could read differently is refused.
/// Source: Docker's documentation, *Env file syntax*.
enum EnvironmentFile {
    private static let blanks: Set<Character> = [" ", "\t"]

    /// Reads the values of the file by their names. A missing file has no values. The last of several lines with one name counts.
    /// - Throws: ``SettingsError/unreadableEnvironment(path:line:reason:)``, which names the line but shows nothing of it: it may hold a secret
    static func values(atPath path: String) throws(SettingsError) -> [String: String] {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch CocoaError.fileReadNoSuchFile { return [:] } catch {
            throw .unreadableEnvironment(path: path, line: nil, reason: error.localizedDescription)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw .unreadableEnvironment(path: path, line: nil, reason: "The file must be a text in UTF-8.")
        }
        var values: [String: String] = [:]
        // The byte order mark is not part of the first name, and CR LF is one Character in Swift.
        let lines = text.drop { $0 == "\u{FEFF}" }.replacing("\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            do throws(Fault) {
                guard let (name, value) = try assignment(line) else { continue }
                values[name] = value
            } catch {
                throw .unreadableEnvironment(path: path, line: index + 1, reason: error.rawValue)
            }
        }
        return values
    }

    private enum Fault: String, Error {
        case form = "A line must be NAME=VALUE, with or without export before it."
        case control = "The line has a control character."
        case open = "The closing quote is missing. A value in quotes ends on its line."
        case behindQuotes = "Only a comment may follow the closing quote."
        case escape = "The value in quotes has a backslash, which other programs take away. Write it without quotes."
        case variable = "Docker Compose puts the value of a variable in the place of $. Put the value in single quotes."
        case tab =
            "Docker Compose reads a tab before # as a part of the value. Put a space there, or single quotes around the value."
        case blank =
            "The value begins or ends with an unusual space, which Docker Compose takes away. Remove it, or use single quotes."
        case comment = "A value must not begin with #. Put it in single quotes."
    }

    /// `nil` for an empty line and for a comment.
    private static func assignment(_ line: Substring) throws(Fault) -> (name: String, value: String)? {
        let line = trimmed(line)
        guard let first = line.first, first != "#" else { return nil }
        guard !line.unicodeScalars.contains(where: { $0 != "\t" && $0.properties.generalCategory == .control }) else {
            throw .control
        }
        guard let equals = line.firstIndex(of: "=") else { throw .form }
        var name = trimmed(line[..<equals])
        if name.hasPrefix("export"), let next = name.dropFirst("export".count).first, blanks.contains(next) {
            name = trimmed(name.dropFirst("export".count))
        }
        guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.]*/) != nil else { throw .form }
        return (String(name), try value(trimmed(line[equals...].dropFirst())))
    }

    private static func value(_ text: Substring) throws(Fault) -> String {
        guard let quote = text.first, quote == "\"" || quote == "'" else {
            guard text.first != "#" else { throw .comment }
            let end = text.firstRange(of: " #")?.lowerBound ?? text.endIndex
            guard !text[..<end].contains("\t#") else { throw .tab }
            guard !text[..<end].contains("$") else { throw .variable }
            let value = trimmed(text[..<end])
            guard value.first?.isWhitespace != true, value.last?.isWhitespace != true else { throw .blank }
            return String(value)
        }
        let inside = text.dropFirst()
        guard let end = inside.firstIndex(of: quote) else { throw .open }
        let rest = trimmed(inside[end...].dropFirst())
        guard rest.isEmpty || rest.first == "#" else { throw .behindQuotes }
        guard !inside[..<end].contains("\\") else { throw .escape }
        guard quote == "'" || !inside[..<end].contains("$") else { throw .variable }
        return String(inside[..<end])
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { blanks.contains($0) }
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return text
    }
}

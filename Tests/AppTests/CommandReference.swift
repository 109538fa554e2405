import ArgumentParser
import Foundation

@testable import App

/// The part of ArgumentParser's description of a command tree (`humon --experimental-dump-help`) that docs/cli.md shows.
struct CommandReference: Decodable {
    struct Tool: Decodable { var command: CommandReference }

    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var abstract: String?

        /// As a user writes it: `-f, --follow`, `--limit <limit>`, `<stream>`.
        var text: String {
            let value = "<\(valueName ?? "")>"
            guard kind != "positional" else {
                return (isOptional ? "[\(value)]" : value) + (isRepeating ? " ..." : "")
            }
            let names = (names ?? []).sorted { $0.kind > $1.kind }.map(\.text).joined(separator: ", ")
            return kind == "flag" ? names : "\(names) \(value)"
        }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var subcommands: [CommandReference]?
    var arguments: [Argument]?

    static func root() throws -> CommandReference {
        try JSONDecoder().decode(Tool.self, from: Data(Humon._dumpHelp().utf8)).command
    }

    /// A section for the command, then its subcommands.
    func markdown(below words: [String] = []) -> String {
        let words = words + [commandName]
        let (text, examples) = discussionParts
        var parts = ["## \(words.joined(separator: " "))", abstract ?? ""]
        if !text.isEmpty { parts.append(text) }
        if !examples.isEmpty { parts.append((["```bash"] + examples + ["```"]).joined(separator: "\n")) }
        if !rows.isEmpty { parts.append((["| option | meaning |", "|---|---|"] + rows).joined(separator: "\n")) }
        let below = (subcommands ?? []).filter { $0.commandName != "help" }.map { $0.markdown(below: words) }
        return ([parts.joined(separator: "\n\n") + "\n"] + below).joined(separator: "\n")
    }

    /// The text of the discussion, and its lines with the prefix `EXAMPLE: `.
    private var discussionParts: (text: String, examples: [String]) {
        let prefix = "EXAMPLE: "
        let lines = (discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let text = lines.filter { !$0.hasPrefix(prefix) }.joined(separator: "\n").trimmingCharacters(in: .newlines)
        return (text, lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    }

    private var rows: [String] {
        (arguments ?? []).filter { $0.shouldDisplay && !["--version", "-h, --help", "--help, -h"].contains($0.text) }.map {
            argument in
            let values = argument.allValues.map { " Values: \($0.joined(separator: ", "))." } ?? ""
            let value = argument.defaultValue.map { " Default: \($0)." } ?? ""
            let meaning = ((argument.abstract ?? "") + values + value).replacing("|", with: "\\|")
            return "| `\(argument.text)` | \(meaning) |"
        }
    }
}

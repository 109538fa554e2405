import ArgumentParser
import Foundation

@testable import App

/// The part of ArgumentParser's description of a command tree (`humon --experimental-dump-help`) that docs/cli.md shows.
struct CommandReference: Decodable {
    struct Tool: Decodable { var command: CommandReference }

    struct Argument: Decodable, Hashable {
        struct Name: Decodable, Hashable {
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

        var meaning: String {
            let values = allValues.map { " Values: \($0.joined(separator: ", "))." } ?? ""
            let value = defaultValue.map { " Default: \($0)." } ?? ""
            return ((abstract ?? "") + values + value).replacing("|", with: "\\|")
        }
    }

    var commandName: String
    var abstract: String?
    var subcommands: [CommandReference]?
    var arguments: [Argument]?

    static func root() throws -> CommandReference {
        try JSONDecoder().decode(Tool.self, from: Data(Humon._dumpHelp().utf8)).command
    }

    /// The options of nearly every command.
    private static let usual = ["--database <url>", "--json"]

    /// A row for each command below this one, without groups: name, abstract and options.
    func commandRows(below words: [String] = []) -> [String] {
        leaves(below: words).map { words, command in
            let own = command.shown.map(\.text)
            let missing = Self.usual.filter { !own.contains($0) }.map { "not `\($0.split(separator: " ")[0])`" }
            let options = own.filter { !Self.usual.contains($0) }.map { "`\($0)`" } + missing
            return "| `humon \(words.joined(separator: " "))` | \(command.abstract ?? "") | \(options.joined(separator: ", ")) |"
        }
    }

    /// A row for each option and argument with its meaning. A name with several meanings has a row for each, with the commands.
    func optionRows() -> [String] {
        let all = leaves(below: []).flatMap { words, command in
            command.shown.map { (words: words.joined(separator: " "), argument: $0) }
        }
        let byText = Dictionary(grouping: all) { $0.argument.text }
        return byText.keys.sorted { $0.drop { !$0.isLetter } < $1.drop { !$0.isLetter } }.flatMap { text in
            let byMeaning = Dictionary(grouping: byText[text] ?? []) { $0.argument.meaning }
            return byMeaning.sorted { $0.value[0].words < $1.value[0].words }.map { meaning, uses in
                let commands = byMeaning.count == 1 ? "" : " (\(uses.map { "`\($0.words)`" }.joined(separator: ", ")))"
                return "| `\(text)`\(commands) | \(meaning) |"
            }
        }
    }

    private func leaves(below words: [String]) -> [(words: [String], command: CommandReference)] {
        (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { command in
            let name = words + [command.commandName]
            return command.subcommands?.isEmpty == false ? command.leaves(below: name) : [(name, command)]
        }
    }

    private var shown: [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && !["--version", "-h, --help", "--help, -h"].contains($0.text) }
    }
}

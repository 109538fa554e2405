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

        var meaning: String {
            let values = allValues.map { " Values: \($0.joined(separator: ", "))." } ?? ""
            let value = defaultValue.map { " Default: \($0)." } ?? ""
            return ((abstract ?? "") + values + value).replacing("|", with: "\\|")
        }
    }

    /// Options that several commands share. The page describes them once.
    enum Group: String, CaseIterable {
        case database, output, reveal, consent

        var names: [String] {
            switch self {
            case .database: ["database"]
            case .output: ["json"]
            case .reveal: ["reveal"]
            case .consent: ["yes", "dry-run"]
            }
        }

        func has(_ argument: Argument) -> Bool { (argument.names ?? []).contains { names.contains($0.name) } }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var subcommands: [CommandReference]?
    var arguments: [Argument]?

    static func root() throws -> CommandReference {
        try JSONDecoder().decode(Tool.self, from: Data(Humon._dumpHelp().utf8)).command
    }

    /// A section for each command below this one, before those of its subcommands.
    func sections(below words: [String] = []) -> [String] {
        (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { command in
            [command.section(below: words)] + command.sections(below: words + [command.commandName])
        }
    }

    /// The shared options of all commands below this one, as rows of a table.
    func sharedRows() -> [String] {
        let all = allArguments
        return Group.allCases.flatMap { group in
            group.names.flatMap { name in
                let rows = all.filter { $0.names?.contains { $0.name == name } == true }.map { argument in
                    "| \(group) | `\(argument.text)` | \(argument.meaning) |"
                }
                // One row, unless a command describes the option in other words.
                return Set(rows).sorted()
            }
        }
    }

    private var allArguments: [Argument] { (arguments ?? []) + (subcommands ?? []).flatMap(\.allArguments) }

    private func section(below words: [String]) -> String {
        let isGroup = subcommands?.isEmpty == false
        let (text, examples) = discussionParts
        var parts = ["## humon \((words + [commandName]).joined(separator: " "))", abstract ?? ""]
        if !text.isEmpty { parts.append(text) }
        if !isGroup {
            parts.append((["```bash"] + examples + ["```"]).joined(separator: "\n"))
            let own = shown.filter { argument in !Group.allCases.contains { $0.has(argument) } }
            if !own.isEmpty { parts.append(own.map { "- `\($0.text)`: \($0.meaning)" }.joined(separator: "\n")) }
            parts += sharedLine.map { [$0] } ?? []
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Names the shared options of the command. Most commands have those of the database and the output.
    private var sharedLine: String? {
        let usual: Set<Group> = [.database, .output]
        let groups = Group.allCases.filter { group in shown.contains { group.has($0) } }
        let missing = Group.allCases.filter { usual.contains($0) && !groups.contains($0) }.map(\.rawValue)
        let further = groups.filter { !usual.contains($0) }.map(\.rawValue)
        let parts =
            (further.isEmpty ? [] : ["also " + further.joined(separator: ", ")])
            + (missing.isEmpty ? [] : ["not " + missing.joined(separator: ", ")])
        return parts.isEmpty ? nil : "Shared options: \(parts.joined(separator: "; "))."
    }

    private var shown: [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && !["--version", "-h, --help", "--help, -h"].contains($0.text) }
    }

    /// The text of the discussion, and its lines with the prefix `EXAMPLE: `.
    private var discussionParts: (text: String, examples: [String]) {
        let prefix = "EXAMPLE: "
        let lines = (discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let text = lines.filter { !$0.hasPrefix(prefix) }.joined(separator: "\n").trimmingCharacters(in: .newlines)
        return (text, lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    }
}

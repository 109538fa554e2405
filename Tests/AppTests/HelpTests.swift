import ArgumentParser
import EventStore
import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The help` {
    /// Every command with its words: `log tail`.
    private static func commands(
        of command: any ParsableCommand.Type = Humon.self, words: [String] = []
    ) -> [(words: [String], type: any ParsableCommand.Type)] {
        [(words, command)]
            + command.configuration.subcommands.flatMap { subcommand in
                commands(of: subcommand, words: words + [subcommand._commandName])
            }
    }

    @Test func `the help of every command has an abstract and a valid example`() throws {
        let commands = Self.commands()
        #expect(commands.count > 15)
        for (words, type) in commands {
            #expect(!type.configuration.abstract.isEmpty, "\(words)")
            let discussion = type.configuration.discussion
            guard let example = discussion.firstMatch(of: /EXAMPLE: humon ([^|&;>\n]*)/) else {
                Issue.record("humon \(words.joined(separator: " ")) has no example")
                continue
            }
            let arguments = example.1.split(separator: " ").map(String.init)
            #expect(Array(arguments.prefix(words.count)) == words)
            let parsed = try? Humon.parseAsRoot(arguments)
            #expect(
                Self.commands(of: type).contains { command in parsed.map { command.type == Swift.type(of: $0) } ?? false },
                "\(arguments)")
        }
    }

    @Test func `each report is a command`() {
        let names = Self.commands().filter { $0.type is any ReportCommand.Type }.map { $0.words.joined(separator: " ") }
        let expected = [
            "log tail", "log show", "log search", "log trace", "log stats", "streams show", "streams state", "streams diff",
            "projections list", "subscriptions list", "subscriptions parked",
        ]
        #expect(names.sorted() == expected.sorted())
    }

    @Test func `the type of every command has the name of the command, and so has the file, unless it prints a report`() throws {
        let folder = Repository.root.appending(path: "Sources/App/Commands").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).map { $0.split(separator: "/").last ?? "" }
        for (words, type) in Self.commands() where !words.isEmpty {
            let isGroup = !type.configuration.subcommands.isEmpty
            let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            #expect("\(type)" == name + (isGroup ? "Commands" : "Command"))
            #expect(isGroup || type is any ReportCommand.Type || files.contains("\(type).swift"), "\(type)")
        }
    }
}

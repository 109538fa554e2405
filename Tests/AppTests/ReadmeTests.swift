import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The README` {
    private static let root = Repository.root

    private static func text() throws -> String {
        try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    }

    /// A block of commands, and the documented response after it.
    private struct Example {
        var commands: String
        var answer: String?
    }

    private static func examples() throws -> [Example] {
        var examples: [Example] = []
        for block in try text().matches(of: /```(sh|json|text)\n((?s:.*?))\n```/) {
            switch block.1 {
            case "sh": examples.append(Example(commands: String(block.2)))
            // The page breaks long responses between members.
            case "json": examples[examples.count - 1].answer = String(block.2.replacing(/\n\s*/, with: ""))
            case _: examples[examples.count - 1].answer = String(block.2)
            }
        }
        return examples
    }

    @Test func `the examples give the documented responses, from top to bottom`() async throws {
        let examples = try Self.examples()
        try #require(examples.count > 10)
        try await HumonProcess.withDirectory { directory in
            try await HumonProcess.withServer(in: directory) { _, port in
                let separator = "-- next --"
                let script = examples.map(\.commands).joined(separator: "\necho '\(separator)'\n")
                    .replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
                let result = try await HumonProcess.run(
                    ["-c", script], in: directory, executable: URL(fileURLWithPath: "/bin/sh"))
                #expect(result.status == 0, "\(result.error)")
                let answers = result.output.split(separator: separator, omittingEmptySubsequences: false)
                try #require(answers.count == examples.count)
                for (example, answer) in zip(examples, answers) {
                    guard let expected = example.answer else { continue }
                    #expect(answer.trimmingCharacters(in: .newlines) == expected, "\(example.commands)")
                }
            }
        }
    }

    @Test func `the documents name only existing files`() throws {
        for document in [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/event-log.md", "docs/operating.md", "docs/archive-format.md",
            "docs/deploying.md", "docs/metrics.md", "docs/security.md", "docs/settings.md", "docs/cli.md",
        ] {
            let text = try String(contentsOf: Self.root.appending(path: document), encoding: .utf8)
            for link in text.matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/).map({ String($0.1) }) {
                let place = Self.root.appending(path: document).deletingLastPathComponent().appending(path: link)
                let exists = FileManager.default.fileExists(atPath: place.path)
                #expect(exists, "\(document) points to \(link)")
            }
            for path in text.matches(of: /`((?:Sources|Tests|db|docs|scripts|Benchmarks)\/[A-Za-z0-9_\/.+-]+)`/).map({
                String($0.1)
            }) {
                let exists = FileManager.default.fileExists(atPath: Self.root.appending(path: path).path)
                #expect(exists, "\(document) names \(path)")
            }
        }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.directory) struct `The examples of a page` {
    /// A block of commands, and the response that the page shows below it, if it shows one.
    private struct Example {
        var commands: String
        var response: String?
    }

    private static func examples(of page: String) throws -> [Example] {
        var examples: [Example] = []
        for block in try Repository.text(page).matches(of: /```(sh|json|text)\n((?s:.*?))\n```/) {
            switch block.1 {
            case "sh": examples.append(Example(commands: String(block.2)))
            // The pages break long JSON between members.
            case "json": examples[examples.count - 1].response = String(block.2.replacing(/\n\s*/, with: ""))
            case _: examples[examples.count - 1].response = String(block.2)
            }
        }
        return examples
    }

    /// With `humon` beside the other programs.
    private static var environment: [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["PATH": HumonProcess.executable.deletingLastPathComponent().path + ":" + path]
    }

    @Test(arguments: ["README.md", "docs/first-hour.md", "docs/clients.md"])
    func `get the responses that the page shows, in one shell from top to bottom`(page: String) async throws {
        let examples = try Self.examples(of: page)
        #expect(examples.contains { $0.response != nil })
        try await HumonProcess.withServer(in: directory) { _, port in
            let separator = "-- next --"
            let script = examples.map(\.commands).joined(separator: "\necho '\(separator)'\n")
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
            let result = try await HumonProcess.run(
                ["-c", script], in: directory, environment: Self.environment, executable: URL(fileURLWithPath: "/bin/sh"))
            #expect(result.status == 0, "\(result.error)")
            let responses = result.output.split(separator: separator, omittingEmptySubsequences: false)
            try #require(responses.count == examples.count)
            for (example, response) in zip(examples, responses) {
                guard let expected = example.response else { continue }
                #expect(response.trimmingCharacters(in: .newlines) == expected, "\(page): \(example.commands)")
            }
        }
    }
}

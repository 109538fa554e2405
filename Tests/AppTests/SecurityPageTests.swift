import Foundation
import TestDatabase
import Testing

@Suite struct `The page on security` {
    private static let root = Repository.root

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The sections of the ten risks.
    private static func parts() throws -> [Substring] {
        try text("docs/security.md").split(separator: "\n## ").dropFirst().filter { $0.hasPrefix("API") }
    }

    @Test func `the page has all ten risks, each with tests and open points`() throws {
        let parts = try Self.parts()
        #expect(parts.map { $0.prefix { $0 != ":" } } == (1...10).map { "API\($0)" })
        for part in parts {
            #expect(part.contains("\n- `Tests/"), "\(part.prefix(40))")
            #expect(part.contains("\nOpen: "), "\(part.prefix(40))")
        }
    }

    @Test func `the page names only existing tests`() throws {
        let lines = try Self.parts().flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("- ") }
        try #require(lines.count > 40)
        let entry = /- `((?:Tests|Libraries|HumonClient)\/\S+\.swift)` `([^`]+)`: (`.+`)/
        for line in lines {
            let (_, file, suite, tests) = try #require(line.wholeMatch(of: entry)?.output)
            let suites = try Self.text(String(file)).split(separator: "@Suite ")
            let found = suites.filter { $0.contains("struct `\(suite)`") }
            #expect(found.count == 1, "\(file) has no suite `\(suite)`")
            for test in tests.matches(of: /`([^`]+)`/).map({ $0.1 }) {
                #expect(found.first?.contains("func `\(test)`(") == true, "`\(suite)` of \(file) has no test `\(test)`")
            }
        }
    }
}

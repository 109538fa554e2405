import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.directory) struct `The operating guide` {
    private static let root = Repository.root

    /// Replaces the values that differ in each run: moments, durations, sizes, ids, versions of PostgreSQL, and the width of columns.
    private static func normalised(_ text: String) -> [String] {
        text.replacing(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{3}Z/, with: "(moment)")
            .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/, with: "(id)")
            .replacing(/[0-9a-f]{64}/, with: "(digest)")
            .replacing(/\b\d+\.[a-p]{8}\b/, with: "(cursor)")
            .replacing(/\d[\d.,]* (ms|s|B|kB|MB|GB|TB)\b/, with: "(figure)")
            .replacing(/PostgreSQL \d+\.\d+ \([^)]*\)/, with: "PostgreSQL")
            .replacing(/(\(figure\) +)\d[\d.,]*( +\(figure\))/) { "\($0.1)(rate)\($0.2)" }
            .replacing(/\ +/, with: " ")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func `the operating guide shows the real output of its commands`() async throws {
        let written = try String(contentsOf: Self.root.appending(path: "docs/operating.md"), encoding: .utf8)
        let result = try await HumonProcess.run(
            [HumonProcess.executable.path], in: directory, executable: Self.root.appending(path: "scripts/docs-examples"),
            within: .seconds(600)
        ).succeeded()
        let (expected, found) = (Self.normalised(written), Self.normalised(result.output))
        for difference in found.difference(from: expected) {
            switch difference {
            case .insert(let line, let text, _): Issue.record("line \(line + 1) should be: \(text)")
            case .remove(let line, let text, _): Issue.record("line \(line + 1) of the guide is no real output: \(text)")
            }
        }
    }
}

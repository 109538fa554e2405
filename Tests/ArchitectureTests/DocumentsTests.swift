import Foundation
import TestDatabase
import Testing

@Suite struct `The documents` {
    @Test func `documents link only to pages, headings and files that exist`() throws {
        let found = try SourceTree.files(below: ["docs", "Libraries", "HumonClient"], ending: ".md")
        #expect(found.count > 40)
        for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] + found {
            let violations = Document(page, try Repository.text(page)).brokenLinks(
                exists: { FileManager.default.fileExists(atPath: Repository.root.appending(path: $0).path) },
                text: { try? Repository.text($0) })
            // The example module of this page does not exist yet.
            let unexpected = page == "docs/extending.md" ? violations.filter { !$0.contains("/Comment") } : violations
            #expect(unexpected.isEmpty, "\(page): \(unexpected.joined(separator: ", "))")
        }
    }

    @Test(arguments: [("README.md", 150), ("ARCHITECTURE.md", 200)])
    func `the first pages of a newcomer stay short`(page: String, limit: Int) throws {
        let lines = Document(page, try Repository.text(page)).lines.count
        #expect(lines <= limit, "\(page) has \(lines) lines")
    }

    @Test func `the glossary explains at most forty words`() throws {
        let rows = Document("docs/glossary.md", try Repository.text("docs/glossary.md")).lines.filter { $0.hasPrefix("| **") }
        #expect((20...40).contains(rows.count), "\(rows.count) rows")
    }

    @Test func `documents name only types that the sources declare`() throws {
        let files = try SourceTree.files(below: SourceTree.sources, ending: ".swift")
        let targets = files.map(SourceTree.target)
        let declared = Set(
            try files.flatMap { file in
                try Repository.text(file).matches(of: /\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w+)/)
                    .map { String($0.1) }
            } + targets)
        for page in ["ARCHITECTURE.md", "docs/glossary.md"] {
            let named = Document(page, try Repository.text(page)).types
            #expect(named.count > 10, "\(page)")
            #expect(named.subtracting(declared).isEmpty, "\(page): \(named.subtracting(declared).sorted())")
        }
    }

    @Test(arguments: [("scripts/chart", "chart"), ("Benchmarks/capacity.py", "capacity")])
    func `the chart and the tables of capacity equal those that their scripts make`(script: String, name: String) async throws {
        let process = Process()
        process.executableURL = Repository.root.appending(path: script)
        process.arguments = ["--check"]
        try process.run()
        #expect(try await process.untilEnd() == 0, "run make docs NAME=\(name)")
    }

    @Test func `make has at most twelve targets, and make help lists each`() throws {
        let makefile = try Repository.text("Makefile")
        let targets = makefile.matches(of: /(?m)^([a-z-]+):/).map { String($0.1) }
        let helped = makefile.matches(of: /(?m)^## ([a-z-]+)\s/).map { String($0.1) }
        #expect(targets.count <= 12)
        #expect(targets == helped)
    }
}

@Suite struct `A decision record` {
    @Test func `a decision record has a status, a date, every section, and at most a hundred lines`() throws {
        let files = try SourceTree.files(below: ["docs/decisions"], ending: ".md").filter { !$0.hasSuffix("README.md") }
        #expect(files.count >= 31)
        let index = try Repository.text("docs/decisions/README.md")
        for file in files {
            let violations = Document(file, try Repository.text(file)).decisionViolations
            #expect(violations.isEmpty, "\(file): \(violations.joined(separator: ", "))")
            let name = String(file.split(separator: "/").last ?? "")
            #expect(index.contains("(\(name))"), "the index does not list \(name)")
        }
    }
}

/// Each check is seen failing.
@Suite struct `Checking the documents` {
    private static let record = """
        # 1. Log positions

        - Status: accepted
        - Date: 2026-11-21

        ## Context
        ## Decision
        ## Alternatives
        ## Consequences
        """

    @Test func `a record with all parts is accepted`() {
        #expect(Document("a.md", Self.record).decisionViolations.isEmpty)
    }

    @Test(arguments: [
        "# 1. ", "- Status: accepted", "- Date: 2026-11-21", "## Context", "## Decision", "## Alternatives", "## Consequences",
    ])
    func `a record that lacks a part is found`(part: String) {
        #expect(!Document("a.md", Self.record.replacing(part, with: "")).decisionViolations.isEmpty)
    }

    @Test func `a record of more than a hundred lines is found`() {
        let long = Self.record + String(repeating: "\nline", count: 92)
        #expect(Document("a.md", long).decisionViolations == ["has 101 lines"])
    }

    @Test(arguments: ["[a](missing.md)", "[a](page.md#missing)", "[a](#missing)", "`Sources/Missing.swift`"])
    func `a link without a target is found`(text: String) {
        let broken = Document("docs/a.md", text).brokenLinks(exists: { $0 == "docs/page.md" }, text: { _ in "# Page\n## Other" })
        #expect(broken.count == 1)
    }

    @Test(arguments: [
        "[a](page.md)", "[a](page.md#two-words)", "[a](../docs/page.md)", "[a](https://example.org)", "```\n[a](missing.md)\n```",
    ])
    func `a link with a target is accepted`(text: String) {
        let broken = Document("docs/a.md", text).brokenLinks(
            exists: { $0 == "docs/page.md" }, text: { _ in "# Page\n## Two words" })
        #expect(broken.isEmpty)
    }
}

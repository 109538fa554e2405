import Foundation
import TestDatabase
import Testing

@Suite struct `The documents` {
    @Test func `documents link only to pages, headings and files that exist`() throws {
        let pages = try Self.pages()
        #expect(pages.count > 40)
        for page in pages {
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

    /// Names in documents that no source declares.
    private static let foreignTypes: [String: String] = [
        "AbortSignal": "browsers", "EventSource": "browsers",
        "AsyncSequence": "Swift", "RawSpan": "Swift", "TaskExecutor": "Swift",
        "AsyncParsableCommand": "ArgumentParser", "ValidationError": "ArgumentParser",
        "InstrumentationSystem": "swift-distributed-tracing", "ServiceContext": "swift-service-context",
        "ServiceGroup": "swift-service-lifecycle", "FoundationNetworking": "Foundation",
        "StreamLogHandler": "swift-log", "TracingMiddleware": "Hummingbird",
        "HumonStandbyNotRead": "an alert", "HumonAvailabilityBurns": "an alert", "HumonAvailabilityBurnsSlowly": "an alert",
        "PostgresWraparound": "an alert", "LimitNOFILE": "a setting of systemd", "MemoryMax": "a setting of systemd",
        "UserErased": "the stored name of a domain event",
        "MyApp": "the example of docs/clients.md",
        "CommentsModule": "the example of docs/extending.md", "CommentsProjection": "the example of docs/extending.md",
        "TokenCache": "decision 28, before decision 35 removed it",
    ]

    @Test func `documents name only types that the sources declare`() throws {
        // A page may also name a test by its file.
        let files = try SourceTree.files(below: ["Sources", "Libraries", "HumonClient", "Benchmarks", "Tests"], ending: ".swift")
        let declared = try files.flatMap { file in
            try Repository.text(file).matches(of: /\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w+)/).map {
                String($0.1)
            }
        }
        let named = files.compactMap { $0.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" } }.map(String.init)
        let targets = try Repository.text("Package.swift").matches(of: /arget\(\s*name: "(\w+)"/).map { String($0.1) }
        let known = Set(declared + named + targets)
        var foreign = Set<String>()
        for page in try Self.pages() {
            let unknown = Document(page, try Repository.text(page)).types.subtracting(known)
            #expect(
                unknown.isSubset(of: Self.foreignTypes.keys), "\(page): \(unknown.subtracting(Self.foreignTypes.keys).sorted())")
            foreign.formUnion(unknown)
        }
        #expect(foreign == Set(Self.foreignTypes.keys))
    }

    @Test func `documents name only functions and tables of the log that its newest definitions have`() throws {
        let functions = try SourceTree.files(below: ["db/functions"], ending: ".sql").flatMap { file in
            try Repository.text(file).matches(of: /FUNCTION log\.(\w+)\(/).map { String($0.1) }
        }
        var relations = Set<String>()
        for file in try SourceTree.files(below: ["db/migrations"], ending: ".sql") {
            let statement =
                /(?:CREATE (?:TABLE|SEQUENCE|VIEW|INDEX) (?:log\.)?(\w+))|(?:(?:ALTER TABLE|DROP VIEW) log\.(\w+)(?:;| RENAME TO (\w+)))/
            for found in try Repository.text(file).matches(of: statement) {
                if let former = found.2 { relations.remove(String(former)) }
                if let new = found.1 ?? found.3 { relations.insert(String(new)) }
            }
        }
        #expect(relations.isSuperset(of: ["recorded_events", "read_models", "followers"]) && !relations.contains("checkpoints"))
        let known = relations.union(functions)
        for page in try Self.pages() {
            var unknown = Document(page, try Repository.text(page)).namesInLog.subtracting(known)
            // Decisions 7, 27 and 50 tell of a table that is gone.
            if page.contains(/decisions\/00(07|27|50)/) { unknown.remove("checkpoints") }
            #expect(unknown.isEmpty, "\(page): \(unknown.sorted())")
        }
    }

    private static func pages() throws -> [String] {
        try ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
            + SourceTree.files(below: ["docs", "Libraries", "HumonClient"], ending: ".md")
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

    @Test func `types and names of the log are found in a page`() {
        let page = Document(
            "a.md",
            "`EventLog`, `LogReader.tail()`, `Age`\n```swift\nlog.run()\n```\n```sql\nlog.append(1) -- event-log.md, log.tail()\n```"
        )
        #expect(page.types == ["EventLog", "LogReader"])
        #expect(page.namesInLog == ["append", "tail"])
    }
}

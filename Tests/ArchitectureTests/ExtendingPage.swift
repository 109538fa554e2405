import TestDatabase
import Testing

/// A page that adds an example module to the sources, as `checks/extending` reads it too.
struct ExtendingPage: Sendable {
    /// A code block that names a file: a new file, or a change of one.
    struct Block: Sendable, Hashable {
        var file: String
        /// The lines that the file has before the change; `nil` for a new file.
        var before: String?
    }

    var blocks: [Block]
    /// The files of the page's table, which change outside of the module's own folders.
    var filesOutside: [String]

    init(_ text: String) {
        blocks = text.matches(of: /(?m)^```(\w+) file=(\S+)\n((?s:.*?))^```$/).map { match in
            let lines = match.3.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let before = lines.filter { !$0.hasPrefix("+") }.map { String($0.dropFirst()) }.joined(separator: "\n")
            return Block(file: String(match.2), before: match.1 == "diff" ? before : nil)
        }
        let section = text.firstRange(of: "## Add a module").map { text[$0.upperBound...] } ?? ""
        let head = section.firstRange(of: "\n### ").map { section[..<$0.lowerBound] } ?? section
        filesOutside = head.matches(of: /(?m)^\| `([^`]+)` \|/).map { String($0.1) }
    }

    /// The places where page and sources disagree, each a sentence.
    /// - Parameter text: the text of a file; `nil` if the file does not exist
    func violations(ownFolders: [String], text: (String) -> String?) -> [String] {
        let wrong = blocks.compactMap { block -> String? in
            switch (block.before, text(block.file)) {
            case (nil, nil): nil
            case (nil, _?): "adds \(block.file), which is there already"
            case (_?, nil): "changes \(block.file), which is not there"
            case (let before?, let text?):
                ("\n" + text).ranges(of: "\n" + before).count == 1
                    ? nil : "\(block.file) does not have these lines once: \(before)"
            }
        }
        let outside = Set(blocks.map(\.file).filter { file in !ownFolders.contains { file.hasPrefix($0) } })
        let untold = outside.subtracting(filesOutside).sorted().map { "does not list \($0)" }
        return wrong + untold + (filesOutside.count > 6 ? ["changes \(filesOutside.count) files outside of the module"] : [])
    }
}

@Suite struct `The page about extending Humon` {
    private static let page = try? ExtendingPage(Repository.text("docs/extending.md"))

    @Test func `the page adds a module with changes to at most six files outside of its folders`() throws {
        let page = try #require(Self.page)
        #expect(page.blocks.count >= 10)
        let found = page.violations(ownFolders: ["Sources/Comments/", "Tests/CommentsTests/"]) { try? Repository.text($0) }
        #expect(found == [])
    }

    @Test func `the text of the page gives the number of files in its table`() throws {
        let text = try Repository.text("docs/extending.md")
        let words = ["Four", "Five", "Six"]
        let count = try #require(text.firstMatch(of: /(\w+) files outside `Sources/)).1
        #expect(words.firstIndex(of: String(count)) == (Self.page?.filesOutside.count).map { $0 - 4 })
    }

    @Test func `the page names only files that exist or that it adds`() throws {
        let added = Set(try #require(Self.page).blocks.map(\.file))
        let text = try Repository.text("docs/extending.md")
        for path in text.matches(of: /`((?:Sources|Tests|db|docs|scripts|deploy)\/[A-Za-z0-9_\/.+-]+)`/).map({ String($0.1) }) {
            let isThere = added.contains { $0.hasPrefix(path) } || SourceTree.has(path)
            #expect(isThere, "docs/extending.md names \(path)")
        }
    }

    @Test func `a page that does not fit the sources is refused`() {
        let page = ExtendingPage(
            """
            ## Add a module
            | `A.swift` | change |
            ### 1.
            ```diff file=A.swift
             let a = 1
            +let b = 2
            ```
            ```swift file=B.swift
            let c = 3
            ```
            """)
        #expect(page.blocks == [.init(file: "A.swift", before: "let a = 1"), .init(file: "B.swift", before: nil)])
        #expect(page.filesOutside == ["A.swift"])
        func violations(_ files: [String: String]) -> [String] { page.violations(ownFolders: ["B"]) { files[$0] } }
        #expect(violations(["A.swift": "import C\nlet a = 1\n"]) == [])
        #expect(violations([:]) == ["changes A.swift, which is not there"])
        #expect(violations(["A.swift": "let a = 2\n"]) == ["A.swift does not have these lines once: let a = 1"])
        #expect(violations(["A.swift": "let a = 1\nlet a = 1\n"]) == ["A.swift does not have these lines once: let a = 1"])
        #expect(violations(["A.swift": "let a = 1\n", "B.swift": ""]) == ["adds B.swift, which is there already"])
        #expect(page.violations(ownFolders: []) { $0 == "A.swift" ? "let a = 1\n" : nil } == ["does not list B.swift"])
    }
}

import TestDatabase
import Testing

/// A section of a page that changes the sources, as `checks/extending` reads it too.
struct Recipe: Sendable {
    /// A code block that names a file: a new file, or changes of one.
    struct Block: Sendable, Hashable {
        var file: String
        /// The lines that the file has before each change; `nil` for a new file.
        var before: [String]?
    }

    var blocks: [Block]
    /// The files of the section's table, which change outside of the recipe's own folders.
    var filesOutside: [String]
    let ownFolders: [String]
    let maximum: Int

    /// - Parameters:
    ///   - ownFolders: their files do not count
    ///   - maximum: the largest number of files outside of them
    init(_ title: String, of page: String, ownFolders: [String], maximum: Int) {
        let rest = ("\n" + page).firstRange(of: "\n## \(title)\n").map { ("\n" + page)[$0.upperBound...] } ?? ""
        let section = rest.firstRange(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
        blocks = section.matches(of: /(?m)^```(\w+) file=(\S+)\n((?s:.*?))^```$/).map { match in
            let lines = match.3.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let before = lines.split(separator: "@@").map { part in
                part.filter { !$0.hasPrefix("+") }.map { String($0.dropFirst()) }.joined(separator: "\n")
            }
            return Block(file: String(match.2), before: match.1 == "diff" ? before : nil)
        }
        let head = section.firstRange(of: "\n### ").map { section[..<$0.lowerBound] } ?? section
        filesOutside = head.matches(of: /(?m)^\| `([^`]+)` \|/).map { String($0.1) }
        (self.ownFolders, self.maximum) = (ownFolders, maximum)
    }

    /// The places where page and sources disagree, each a sentence.
    /// - Parameter text: the text of a file; `nil` if the file does not exist
    func violations(text: (String) -> String?) -> [String] {
        let wrong = blocks.flatMap { block -> [String] in
            switch (block.before, text(block.file)) {
            case (nil, nil): []
            case (nil, _?): ["adds \(block.file), which is there already"]
            case (_?, nil): ["changes \(block.file), which is not there"]
            case (let before?, let text?):
                before.filter { ("\n" + text).ranges(of: "\n" + $0).count != 1 }
                    .map { "\(block.file) does not have these lines once: \($0)" }
            }
        }
        let outside = Set(blocks.map(\.file).filter { file in !ownFolders.contains { file.hasPrefix($0) } })
        let untold = outside.subtracting(filesOutside).sorted().map { "does not list \($0)" }
        return wrong + untold + (filesOutside.count > maximum ? ["changes \(filesOutside.count) files outside"] : [])
    }
}

@Suite struct `The page about extending Humon` {
    private static func recipes() throws -> (module: Recipe, field: Recipe) {
        let page = try Repository.text("docs/extending.md")
        return (
            Recipe("Add a module", of: page, ownFolders: ["Sources/Comments/", "Tests/CommentsTests/"], maximum: 6),
            Recipe("Add a field to an event", of: page, ownFolders: ["Tests/", "docs/"], maximum: 8)
        )
    }

    @Test func `the page adds a module with changes to at most six files outside of its folders`() throws {
        let module = try Self.recipes().module
        #expect(module.blocks.count >= 10)
        #expect(module.violations { try? Repository.text($0) } == [])
    }

    @Test func `the page adds a field to an event with changes to at most eight files outside of tests and documents`() throws {
        let field = try Self.recipes().field
        #expect(field.blocks.count >= 8)
        #expect(field.violations { try? Repository.text($0) } == [])
        // A file of the table that no code block changes would not be checked.
        #expect(Set(field.filesOutside).isSubset(of: field.blocks.map(\.file)))
    }

    @Test func `the text of the page gives the number of files in its tables`() throws {
        let text = try Repository.text("docs/extending.md")
        let (module, field) = try Self.recipes()
        let words = ["Four", "Five", "Six", "Seven", "Eight"]
        let counts = text.matches(of: /(\w+) files outside/).map { words.firstIndex(of: String($0.1)) }
        #expect(counts == [module.filesOutside.count - 4, field.filesOutside.count - 4])
    }

    @Test func `the page names only files that exist or that it adds`() throws {
        let (module, field) = try Self.recipes()
        let added = Set((module.blocks + field.blocks).map(\.file))
        let text = try Repository.text("docs/extending.md")
        for path in text.matches(of: /`((?:Sources|Tests|db|docs|scripts|deploy)\/[A-Za-z0-9_\/.+-]+)`/).map({ String($0.1) }) {
            let isThere = added.contains { $0.hasPrefix(path) } || SourceTree.has(path)
            #expect(isThere, "docs/extending.md names \(path)")
        }
    }

    @Test func `a page that does not fit the sources is refused`() {
        func recipe(ownFolders: [String]) -> Recipe {
            Recipe(
                "Add a module",
                of: """
                    ## Add a module
                    | `A.swift` | change |
                    ### 1.
                    ```diff file=A.swift
                     let a = 1
                    +let b = 2
                    @@
                    -let d = 4
                    ```
                    ```swift file=B.swift
                    let c = 3
                    ```
                    ## Add another
                    ```swift file=C.swift
                    ```
                    """, ownFolders: ownFolders, maximum: 6)
        }
        let page = recipe(ownFolders: ["B"])
        #expect(
            page.blocks == [.init(file: "A.swift", before: ["let a = 1", "let d = 4"]), .init(file: "B.swift", before: nil)])
        #expect(page.filesOutside == ["A.swift"])
        func violations(_ files: [String: String]) -> [String] { page.violations { files[$0] } }
        #expect(violations(["A.swift": "import C\nlet a = 1\nlet d = 4\n"]) == [])
        #expect(violations([:]) == ["changes A.swift, which is not there"])
        #expect(violations(["A.swift": "let a = 1\n"]) == ["A.swift does not have these lines once: let d = 4"])
        let twice = "let a = 1\nlet a = 1\nlet d = 4\n"
        #expect(violations(["A.swift": twice]) == ["A.swift does not have these lines once: let a = 1"])
        let whole = "let a = 1\nlet d = 4\n"
        #expect(violations(["A.swift": whole, "B.swift": ""]) == ["adds B.swift, which is there already"])
        #expect(recipe(ownFolders: []).violations { $0 == "A.swift" ? whole : nil } == ["does not list B.swift"])
    }
}

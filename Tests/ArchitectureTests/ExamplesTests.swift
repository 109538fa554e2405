import Foundation
import TestDatabase
import Testing

@Suite struct `The examples` {
    /// The folders with a page of their own: each library, and the client for apps.
    static let folders: [String] = {
        let libraries = Project.targets.filter { $0.isLibrary && !$0.folder.hasPrefix("Libraries/C/") }
        return libraries.map { "Libraries/\($0.name)" } + ["HumonClient"]
    }()

    /// The declarations that a reader of a library meets first.
    static let frontDoors = [
        ("Libraries/EventStore/Sources/Log/Append/EventLog.swift", "public final class EventLog: Service {"),
        ("Libraries/EventStore/Sources/Projections/Projection.swift", "public protocol Projection: Sendable {"),
        ("Libraries/EventStore/Sources/Subscriptions/Subscription.swift", "public protocol Subscription: Sendable {"),
        ("Libraries/HTTPServer/Sources/Routing/Router.swift", "public struct Router: Sendable {"),
        (
            "Libraries/Postgres/Sources/Client/PostgresClient.swift",
            "public final class PostgresClient: Service, PostgresQuerying {"
        ),
        ("Libraries/SpatialIndex/Sources/PointIndex.swift", "public final class PointIndex: Sendable {"),
    ]

    private static func isCompiled(_ listing: Listing, in folder: String) throws -> Bool {
        try SourceTree.files(below: ["\(folder)/Tests"], ending: ".swift").contains {
            listing.isPart(of: try Repository.text($0))
        }
    }

    @Test(arguments: folders)
    func `the examples on the page of a library are code that its tests compile`(folder: String) throws {
        let page = try Repository.text("\(folder)/README.md")
        let listings = Listing.all(in: page)
        try #require(!listings.isEmpty, "\(folder)/README.md has no example")
        for listing in listings {
            // A test target has an entry point already.
            let lines = listing.lines.filter { $0 != "@main" }
            #expect(try Self.isCompiled(Listing(lines: lines), in: folder), "\(lines.joined(separator: "\n"))")
            #expect(lines.count <= 90)
        }
        #expect(Document("README.md", page).lines.count <= 180)
    }

    @Test(arguments: folders)
    func `the examples in doc comments of a library are parts of code that its tests compile`(folder: String) throws {
        for file in try SourceTree.files(below: ["\(folder)/Sources"], ending: ".swift") {
            for (declaration, _, listing) in Listing.inDocComments(of: try Repository.text(file)) {
                let shown = listing.lines.joined(separator: "\n")
                #expect(try Self.isCompiled(listing, in: folder), "\(file), \(declaration)\n\(shown)")
            }
        }
    }

    @Test(arguments: frontDoors)
    func `the doc comment of a front door begins with an example`(file: String, declaration: String) throws {
        let found = Listing.inDocComments(of: try Repository.text(file)).first { $0.declaration == declaration }
        // One paragraph says what the type is.
        #expect(try #require(found, "\(declaration) has no example").linesBefore <= 4)
    }
}

/// Each check is seen failing.
@Suite struct `A listing` {
    private static let source = """
        /// Makes tea.
        ///
        /// ```swift
        /// let tea = Tea()
        /// for cup in tea {
        ///     drink(cup)
        /// }
        /// ```
        ///
        /// It is hot.
        @frozen
        public struct Tea {
            /// The name.
            var name = ""
        }
        """

    @Test func `a listing of a doc comment is found, with its declaration`() throws {
        let found = Listing.inDocComments(of: Self.source)
        try #require(found.count == 1)
        #expect(found[0].declaration == "public struct Tea {")
        #expect(found[0].linesBefore == 2)
        #expect(found[0].listing.lines == ["let tea = Tea()", "for cup in tea {", "drink(cup)", "}"])
    }

    @Test func `a listing is a part of a file only if all its lines stand there in order`() throws {
        let listing = try #require(Listing.inDocComments(of: Self.source).first).listing
        let file = "func a() {\n    let tea = Tea()\n    for cup in tea {\n        drink(cup)\n    }\n}\n"
        #expect(listing.isPart(of: file))
        #expect(!listing.isPart(of: file.replacing("drink(cup)", with: "drink(tea)")))
        #expect(!listing.isPart(of: file.replacing("    for", with: "    print()\n    for")))
        #expect(!listing.isPart(of: ""))
    }
}

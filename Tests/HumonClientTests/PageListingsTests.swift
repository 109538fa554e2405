import Foundation
import TestDatabase
import TestServer
import Testing

@testable import HumonClient

@Suite struct `The Swift listings of the page for clients` {
    private struct Listing {
        /// Behind the word `swift` in the page.
        var mark: String
        var lines: [String]
    }

    private static func trimmed(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func listings() throws -> [Listing] {
        try Repository.text("docs/clients.md").matches(of: /(?m)^```swift(.*)\n((?s:.*?))\n```$/).map { match in
            Listing(mark: match.1.trimmingCharacters(in: .whitespaces), lines: trimmed(match.2))
        }
    }

    @Test func `each listing is a part of the compiled file, and only that of SwiftUI is not`() throws {
        let listings = try Self.listings()
        #expect(listings.filter { !$0.mark.isEmpty }.map(\.mark) == ["file=Package.swift", "not-compiled"])
        #expect(listings.first { $0.mark == "not-compiled" }?.lines.contains("import SwiftUI") == true)
        let compiled = Self.trimmed(try Repository.text("Tests/HumonClientTests/PageListings.swift"))
        let plain = listings.filter(\.mark.isEmpty)
        #expect(plain.count >= 7)
        for listing in plain {
            let (count, first) = (listing.lines.count, listing.lines[0])
            let isThere = compiled.indices.contains {
                compiled[$0] == first && Array(compiled[$0...].prefix(count)) == listing.lines
            }
            #expect(isThere, "not in PageListings.swift: \(listing.lines.joined(separator: "\n"))")
        }
    }

    /// As an app developer has it: an empty package with the manifest of the page, beside a checkout.
    @Test func `an empty package with the manifest of the page builds with the client alone, and runs`() async throws {
        let manifest = try #require(try Self.listings().first { $0.mark == "file=Package.swift" })
        try await HumonProcess.withDirectory { directory in
            let files = FileManager.default
            let app = directory.appending(path: "MyApp")
            let sources = app.appending(path: "Sources/MyApp")
            try files.createDirectory(at: sources, withIntermediateDirectories: true)
            try files.createSymbolicLink(at: directory.appending(path: "humon"), withDestinationURL: Repository.root)
            let main =
                "import HumonClient\nprint(Coordinate(latitude: 0, longitude: 0).kilometers(to: .init(latitude: 0, longitude: 1)))"
            let texts = [
                (app, "Package.swift", manifest.lines.joined(separator: "\n")), (sources, "main.swift", main),
                (sources, "Listings.swift", try Repository.text("Tests/HumonClientTests/PageListings.swift")),
            ]
            for (folder, name, text) in texts {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            let result = try await HumonProcess.run(
                ["swift", "run", "--package-path", app.path, "MyApp"], in: directory,
                executable: URL(fileURLWithPath: "/usr/bin/env"))
            #expect(result.status == 0, "\(result.output)\(result.error)")
            #expect(result.output.hasPrefix("111.195"), "\(result.output)")
            let checkouts = try? files.contentsOfDirectory(atPath: app.appending(path: ".build/checkouts").path)
            #expect(checkouts ?? [] == [])
        }
    }

    @Test func `the package of the client alone has the settings of the whole`() throws {
        let own = try Repository.text("Package.swift")
        let alone = try Repository.text("Packages/HumonClient/Package.swift")
        #expect(own.contains(#".library(name: "HumonClient", targets: ["HumonClient"])"#) && own.contains(".iOS(.v16)"))
        func features(_ manifest: String) -> Set<String> {
            Set(manifest.matches(of: /enableUpcomingFeature\("(\w+)"\)/).map { String($0.1) })
        }
        #expect(features(alone) == features(own))
    }

    @Test func `the listings work with a live server`() async throws {
        try await HumonProcess.withServer { _, port, _ in
            let server = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let humon = try await PageListings.signUp(server: server, secret: HumonProcess.secret, file: file)
            let again = try await PageListings.signUp(server: server, secret: HumonProcess.secret, file: file)
            #expect(try await humon.me() == again.me())
            try await PageListings.publish(humon)
            let id = try #require(try await humon.myAttendances().elements.first?.id)
            try await PageListings.search(humon, near: TestClient.here)
            try await PageListings.change(humon, id)
            let changed = try await humon.event(id)
            #expect(changed.endedAt == changed.startedAt + 7_200)
            try await PageListings.intent(humon, TestClient.draft())
            #expect(try await humon.myEvents().elements.count == 2)
            let names = MemoryList<[String]>()
            let task = Task {
                try await PageListings.follow(humon, TestClient.near) { names.append($0.byID.values.map(\.name).sorted()) }
            }
            try await eventually("the list") { names.all.last == ["Chess", "Chess"] }
            try await humon.cancel(id)
            try await eventually("the cancellation") { names.all.last == ["Chess"] }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}

@Suite struct `The events that a map shows` {
    @Test func `each change is applied`() {
        func event(_ id: Int64, _ name: String) -> Event {
            Event(
                id: Event.ID(rawValue: id), name: name, coordinate: TestClient.here, startedAt: .distantPast, owner: User(id: 1))
        }
        var shown = ShownEvents()
        let changes: [(Change, [String], Bool)] = [
            (.interrupted(.connectionFailed(.timedOut)), [], true), (.resumed, [], false),
            (.list([event(1, "a"), event(2, "b")]), ["a", "b"], false), (.put(event(2, "c")), ["a", "c"], false),
            (.gone(1), ["c"], false), (.gone(9), ["c"], false), (.list([]), [], false),
        ]
        for (change, names, isOffline) in changes {
            shown.apply(change)
            #expect(shown.byID.values.map(\.name).sorted() == names && shown.isOffline == isOffline, "\(change)")
        }
    }
}

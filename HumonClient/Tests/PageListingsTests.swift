import Foundation
import TestDatabase
import TestServer
import Testing

@testable import HumonClient

@Suite struct `The listings of the client's page` {
    private static let manifest = "file=Package.swift"
    private static let program = "file=Sources/MyApp/main.swift"

    private static func listings() throws -> [Listing] { Listing.all(in: try Repository.text("HumonClient/README.md")) }

    /// As an app developer has it: a package with the files of the page, beside a checkout. The listings that continue the program
    /// stand in a function that does not run, because the last one has no end.
    @Test func `a package with the files of the page builds with the client alone, and signs up`() async throws {
        let listings = try Self.listings()
        let manifest = try #require(listings.first { $0.mark == Self.manifest })
        let program = try #require(listings.first { $0.mark == Self.program })
        let rest = listings.filter(\.mark.isEmpty).flatMap(\.lines)
        try await HumonProcess.withDatabase { _, directory, environment in
            try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
                let main = (program.lines + ["@MainActor func continued() async throws {"] + rest + ["}"])
                    .joined(separator: "\n").replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
                let result = try await Self.run(
                    manifest: manifest.lines.joined(separator: "\n"), main: main, in: directory, environment: environment)
                #expect(result.status == 0, "\(result.output)\(result.error)")
                #expect(result.output == "This device is user 1.\n")
            }
        }
    }

    private static func run(
        manifest: String, main: String, in directory: URL, environment: [String: String]
    ) async throws -> HumonProcess.Result {
        let files = FileManager.default
        let app = directory.appending(path: "MyApp")
        let sources = app.appending(path: "Sources/MyApp")
        try files.createDirectory(at: sources, withIntermediateDirectories: true)
        try files.createSymbolicLink(at: directory.appending(path: "humon"), withDestinationURL: Repository.root)
        for (folder, name, text) in [(app, "Package.swift", manifest), (sources, "main.swift", main)] {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let result = try await HumonProcess.run(
            ["swift", "run", "--package-path", app.path, "MyApp"], in: directory, environment: environment,
            // It compiles the client.
            executable: URL(fileURLWithPath: "/usr/bin/env"), within: .seconds(600))
        let checkouts = try? files.contentsOfDirectory(atPath: app.appending(path: ".build/checkouts").path)
        #expect(checkouts ?? [] == [])
        return result
    }

    @Test func `the listings work with a live server`() async throws {
        try await HumonProcess.withServer { _, port, _ in
            let server = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let humon = try await PageListings.signUp(server: server, secret: HumonProcess.secret)
            try await PageListings.publish(humon)
            try await PageListings.failToPublish(humon, near: TestClient.here)
            let id = try #require(try await humon.myAttendances().elements.first?.id)
            try await PageListings.search(humon, near: TestClient.here)
            try await PageListings.change(humon, id)
            let changed = try await humon.event(id)
            #expect(changed.endedAt == changed.startedAt + 7_200)
            try await PageListings.intent(humon, TestClient.draft())
            #expect(try await humon.myEvents().elements.count == 2)
            let names = MemoryList<[String]>()
            let task = Task {
                try await PageListings.follow(humon, near: TestClient.here) { names.append($0.byID.values.map(\.name).sorted()) }
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
            (.gone(1), ["c"], false), (.gone(9), ["c"], false), (.interrupted(.connectionFailed(.timedOut)), ["c"], true),
            // An app may make a new iterator while the connection is interrupted: it begins with a list.
            (.list([]), [], false),
        ]
        for (change, names, isOffline) in changes {
            shown.apply(change)
            #expect(shown.byID.values.map(\.name).sorted() == names && shown.isOffline == isOffline, "\(change)")
        }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@testable import HumonClient

@Suite struct `Following changes with the client` {
    /// Follows a region until the body ends.
    private static func follow(
        _ client: TestClient, in region: Region = TestClient.near, words: String? = nil, since position: Position? = nil,
        _ body: (MemoryList<Change>) async throws -> Void
    ) async throws {
        let seen = MemoryList<Change>()
        let task = Task {
            for try await change in client.humon.changes(in: region, words: words, since: position) { seen.append(change) }
        }
        do {
            try await body(seen)
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Changes without those that depend on the moment at which the connection was lost.
    private static func names(_ seen: MemoryList<Change>) -> [String] {
        seen.all.compactMap { change in
            switch change {
            case .list(let events): "list of \(events.map(\.name).sorted().joined(separator: ", "))"
            case .put(let event): "put \(event.name)"
            case .gone: "gone"
            case .interrupted, .resumed: nil
            }
        }
    }

    private static func wait(_ seen: MemoryList<Change>, for expected: [String]) async throws {
        try await eventually("\(expected)") { names(seen).count >= expected.count }
        #expect(names(seen) == expected)
    }

    @Test(.client) func `a sequence with words has the events with these words`() async throws {
        let id = try await client.humon.create(TestClient.draft("Chess"))
        _ = try await client.humon.create(TestClient.draft("Tea"))
        try await Self.follow(client, words: "che") { seen in
            try await Self.wait(seen, for: ["list of Chess"])
            _ = try await client.humon.create(TestClient.draft("Coffee"))
            try await client.humon.change(id, EventPatch(name: "Run"))
            _ = try await client.humon.create(TestClient.draft("Cheese"))
            try await Self.wait(seen, for: ["list of Chess", "gone", "put Cheese"])
        }
    }

    @Test(.client) func `a list comes first unless the caller has its position, then each change in order`() async throws {
        for region in [TestClient.near, .visible(center: TestClient.here, latitudeDelta: 0.1, longitudeDelta: 0.1)] {
            let position = try await client.humon.events(in: region).position
            let id = try await client.humon.create(TestClient.draft())
            try await Self.follow(client, in: region, since: position) { try await Self.wait($0, for: ["put Chess"]) }
            try await Self.follow(client, in: region) { seen in
                try await Self.wait(seen, for: ["list of Chess"])
                try await client.humon.change(id, EventPatch(name: "Tea"))
                _ = try await client.humon.create(TestClient.draft("Far", Coordinate(latitude: 48, longitude: 2)))
                try await client.humon.change(id, EventPatch(coordinate: Coordinate(latitude: 0, longitude: 0)))
                let run = try await client.humon.create(TestClient.draft("Run"))
                try await client.humon.cancel(run)
                try await Self.wait(seen, for: ["list of Chess", "put Tea", "gone", "put Run", "gone"])
            }
        }
    }

    @Test(.clientAlone()) func `a list of several pages is one change`() async throws {
        func event(_ id: Int) -> String {
            #"[{"address":null,"ended_at":null,"id":\#(id),"lat":1,"lon":1,"name":"\#(id)","#
                + #""started_at":"2030-09-14T00:00:00.000Z","owner":{"id":1}}]"#
        }
        let next = "Humon-Position: 10.kbnapcmd\r\nLink: </v1/events?after=1>; rel=\"next\"\r\n"
        client.relay.next(
            .response(200, type: "application/json", fields: next, body: event(1)),
            .response(200, type: "application/json", fields: "Humon-Position: 8.kbnapcmd\r\n", body: event(2)), .hang)
        try await Self.follow(client, in: .box(.world)) { seen in
            try await Self.wait(seen, for: ["list of 1, 2"])
            try await eventually("the stream") { client.relay.requests.count == 3 }
            #expect(client.relay.requests[1].contains("after=1"))
            // The lowest position of the pages.
            #expect(client.relay.requests[2].contains("since=8.kbnapcmd "))
        }
    }

    @Test(.client) func `a lost connection continues where it stopped, without a change twice`() async throws {
        try await Self.follow(client) { seen in
            try await Self.wait(seen, for: ["list of "])
            var expected = ["list of "]
            for name in ["a", "b", "c"] {
                _ = try await client.humon.create(TestClient.draft(name))
                expected.append("put \(name)")
                try await Self.wait(seen, for: expected)
                client.relay.cutAll()
                _ = try await client.humon.create(TestClient.draft("while away \(name)"))
                expected.append("put while away \(name)")
                try await Self.wait(seen, for: expected)
            }
            #expect(!seen.all.contains { if case .interrupted = $0 { true } else { false } }, "\(seen.all)")
        }
    }

    private static let emptyList = Relay.Fate.response(
        200, type: "application/json", fields: "Humon-Position: 9\r\n", body: #"{"message":"No Events Found"}"#)
    private static let reset = Relay.Fate.answer(
        "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            + "retry: 100\nid: 9\n\nevent: reset\ndata: {\"position\":1}\n\n")

    @Test(.clientAlone())
    func `after an interruption and a reset, the list and the stream come at once, and "resumed" comes with the list`()
        async throws
    {
        let bareReset = Relay.Fate.answer(
            "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                + "event: reset\ndata: {\"position\":1}\n\n")
        client.relay.next(Self.emptyList, .cut, .cut, .cut, bareReset, Self.emptyList, .hang)
        try await Self.follow(client) { seen in
            try await eventually("the second stream") { client.relay.requests.count == 7 }
            #expect(Self.names(seen) == ["list of ", "list of "])
            #expect(Array(seen.all.dropFirst(2)) == [.resumed, .list([])])
            // One for each connection that failed.
            #expect(client.pauses.all.count == 3, "\(client.pauses.all)")
        }
    }

    @Test(.clientAlone()) func `a server that resets every stream gets pauses, which grow`() async throws {
        client.relay.next(Self.emptyList)
        for _ in 0..<4 { client.relay.next(Self.reset, Self.emptyList) }
        client.relay.next(.hang)
        try await Self.follow(client) { _ in
            try await eventually("the last stream") { client.relay.requests.count == 10 }
            // None after the first reset. Random numbers shorten each pause by a half at most.
            #expect(client.pauses.all.count == 3)
            #expect(zip(client.pauses.all, [50, 100, 200]).allSatisfy { $0 >= .milliseconds($1) }, "\(client.pauses.all)")
        }
    }

    @Test(.clientAlone()) func `a refusal that lasts ends the sequence`() async throws {
        client.relay.next(.problem(401, "unauthorized"))
        var iterator = client.humon.changes(in: TestClient.near).makeAsyncIterator()
        await #expect { try await iterator.next() } throws: { error in
            (error as? HumonError)?.problem?.code == .unauthorized
        }
    }

    @Test func `a server that was killed and started again is followed on, and the gap is visible`() async throws {
        try await HumonProcess.withDatabase { _, directory, environment in
            let relay = try Relay(to: nil)
            defer { relay.stop() }
            let client = try TestClient(relay)
            let first = try HumonProcess(["serve"], in: directory, environment: environment)
            relay.move(to: try await first.port())
            try await client.humon.signUp()
            _ = try await client.humon.create(TestClient.draft("before"))
            try await Self.follow(client) { seen in
                try await Self.wait(seen, for: ["list of before"])
                first.send(SIGKILL)
                _ = try await first.untilExit()
                try await eventually("an interruption") {
                    seen.all.contains { if case .interrupted = $0 { true } else { false } }
                }
                try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
                    relay.move(to: port)
                    try await eventually("the connection") { seen.all.contains(.resumed) }
                    _ = try await client.humon.create(TestClient.draft("after"))
                    try await eventually("the event") { Self.names(seen).last?.contains("after") == true }
                    #expect(seen.all.filter { $0 == .resumed }.count == 1, "\(seen.all)")
                }
            }
        }
    }
}

import EventStore
import HTTPTypes
import TestDatabase
import TestHTTP
import TestServer
import Testing

@Suite(.api()) struct `Entity tags after the log lost its end` {
    private static let near = "/v1/events/nearests?lat=37.76&lon=-122.43"

    /// The tag of the list, when the index is in use.
    private static func listTag(_ api: TestAPI) async throws -> String {
        var tag: String?
        try await eventually("the index is in use") {
            tag = try await api.send(.get, near).header("etag")
            return tag != nil
        }
        return try #require(tag)
    }

    private static func rename(_ path: String, _ name: String, _ api: TestAPI, ifMatch tag: String? = nil) async throws -> Int {
        try await api.send(
            .patch, path, token: "owner", type: mergePatch, #"{"name":"\#(name)"}"#,
            headers: tag.map { ["if-match": $0] } ?? [:]
        ).status
    }

    @Test func `a tag of a lost version gets no 304 and passes no If-Match, with a mark and without`() async throws {
        let path = "/v1/events/\(try await api.createEvent("owner"))"
        #expect(try await Self.rename(path, "Lost", api) == 200)
        let lost = try #require(try await api.send(.get, path).header("etag"))
        let lostList = try await Self.listTag(api)
        #expect((lost.unmarked, lostList.unmarked) == (#""2""#, #""3""#))
        try await api.database.loseEndOfLog(
            after: 2, script: "UPDATE events_v1.events SET version = 1, name = 'Party' WHERE id = 1;")
        // The process learns of the loss when PostgreSQL gives position 3 again.
        #expect(try await Self.rename(path, "Kept", api) == 200)
        let keptList = try await Self.listTag(api)
        let kept = try #require(try await api.send(.get, path).header("etag"))
        #expect((kept.unmarked, keptList.unmarked) == (#""2""#, #""3""#))
        for (tag, status) in [(lost, 200), (#""2""#, 200), (kept, 304)] {
            #expect(try await api.send(.get, path, headers: ["if-none-match": tag]).status == status, "\(tag)")
        }
        for (tag, status) in [(lostList, 200), (#""3""#, 200), (keptList, 304)] {
            #expect(try await api.send(.get, Self.near, headers: ["if-none-match": tag]).status == status, "\(tag)")
        }
        for (tag, status) in [(lost, 412), (#""2""#, 412), (kept, 200)] {
            #expect(try await Self.rename(path, "Changed", api, ifMatch: tag) == status, "\(tag)")
        }
    }
}

@Suite struct `Positions after the log lost its end` {
    private typealias Streams = `Following changes`

    /// A log of 12 recorded events, of which 7 to 10 took the places of lost ones.
    private static func withLostEnd(_ body: @escaping @Sendable (TestAPI, _ lost: LogCursor) async throws -> Void) async throws {
        try await TestAPI.with(.live) { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            func rename(_ names: ClosedRange<Int>) async throws -> LogCursor {
                var last: String?
                for name in names {
                    let answer = try await api.send(.patch, path, token: "owner", type: mergePatch, #"{"name":"\#(name)"}"#)
                    try #require(answer.status == 200)
                    last = answer.header("humon-position")
                }
                return try #require(last.flatMap(LogCursor.init))
            }
            let lost = try await rename(3...10)
            #expect(lost.position == 10)
            try await api.database.loseEndOfLog(
                after: 6, script: "UPDATE events_v1.events SET version = 5, name = '6' WHERE id = 1;")
            // The index is loaded again meanwhile, and knows the changes from then on.
            for names in [7...8, 9...12] {
                let last = try await rename(names)
                try await eventually("the index has the new history") {
                    let position = try await api.send(.get, "/v1/events/nearests?\(Streams.near)").header("humon-position")
                    return position.flatMap(LogCursor.init) == last
                }
            }
            try await body(api, lost)
        }
    }

    @Test func `a stream that goes on from a lost event gets a reset, by either name of its position`() async throws {
        try await Self.withLostEnd { api, lost in
            let reset = "\r\n\r\nevent: reset\ndata: {}\n\n"
            for stream in [
                try Streams.open(api, Streams.near, "Last-Event-ID: \(lost)\r\n"),
                try Streams.open(api, "\(Streams.near)&since=\(lost)"),
            ] {
                let received = try await stream.receive()
                #expect(received.isEnded && received.text.hasSuffix(reset), "\(received.text)")
            }
            let (kept, end) = (try await api.log.cursor(at: 10), try await api.log.cursor(at: 12))
            // An older client sends no mark, and gets one.
            for position in ["\(kept)", "10"] {
                let text = try await Streams.open(api, "\(Streams.near)&since=\(position)")
                    .receive { $0.contains("event: put") && $0.hasSuffix("\n\n") }.text
                #expect(text.contains("id: \(kept)\n\n") && text.contains("id: \(end)\n"), "\(text)")
            }
        }
    }

    @Test func `a read at a lost write gets 503, and one at a write of this history is answered`() async throws {
        try await Self.withLostEnd { api, lost in
            let kept = try await api.log.cursor(at: 10)
            for path in ["/v1/events/1", "/v1/events?bbox=-180,-90,180,90", "/v1/users/me/events", "/v1/events/1/attendances"] {
                for (position, status) in [("\(lost)", 503), ("\(kept)", 200), ("10", 200)] {
                    let answer = try await api.send(
                        .get, path, headers: ["humon-position": position, "tb-device-token": "owner"])
                    #expect(answer.status == status, "\(path) at \(position)")
                }
            }
        }
    }
}

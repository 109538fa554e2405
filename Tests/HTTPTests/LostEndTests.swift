import HTTPTypes
import TestDatabase
import Testing

@Suite struct `Entity tags after the log lost its end` {
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
        try await TestAPI.with { api in
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
}

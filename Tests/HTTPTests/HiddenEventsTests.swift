import HTTPTypes
import Testing

private let cancelled = #"{"message":"Event Cancelled"}"#
private let hidden = #"{"message":"Event Hidden"}"#

@Suite struct `A hidden event over HTTP` {
    @Test func `a hidden event is not there for others, and hidden for its owner, until it is unhidden`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let id = try await api.createEvent("owner")
                try await api.signUp("guest")
                let before = try await api.send(.get, "/v1/events/\(id)")
                try await api.hide(id)
                for (token, expected) in [
                    (nil, (404, notFound)), ("guest", (404, notFound)), ("nobody", (404, notFound)), ("owner", (410, hidden)),
                ] as [(String?, (Int, String))] {
                    let shown = try await api.send(.get, "/v1/events/\(id)", token: token)
                    #expect((shown.status, shown.body) == expected, "\(token ?? "-")")
                    #expect(shown.header("cache-control") == "no-store")
                }
                for (token, expected) in [("guest", (404, notFound)), ("owner", (410, hidden))] {
                    let update = try await api.send(.patch, "/v1/events/\(id)", token: token, TestAPI.required)
                    #expect((update.status, update.body) == expected)
                    let cancellation = try await api.cancel(id, token: token)
                    #expect((cancellation.status, cancellation.body) == expected)
                }
                #expect(try await api.send(.get, "/v1/users/me/events", token: "owner").body == "[]")
                try await api.unhide(id)
                let after = try await api.send(.get, "/v1/events/\(id)")
                #expect((after.status, after.body) == (200, before.body))
                #expect(after.header("etag")?.unmarked == "\"3\"")
            }
        }
    }

    @Test func `a cancelled event that is hidden and unhidden stays cancelled`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            #expect(try await api.cancel(id).status == 200)
            try await api.hide(id)
            #expect(try await api.send(.get, "/v1/events/\(id)").status == 404)
            #expect(try await api.send(.get, "/v1/events/\(id)", token: "owner").body == hidden)
            try await api.unhide(id)
            #expect(try await api.send(.get, "/v1/events/\(id)").body == cancelled)
        }
    }
}

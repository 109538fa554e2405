import Encoding
import EventStore
import HTTPTypes
import Testing

@Suite struct `Versions as entity tags` {
    @Test func `the entity tag of an event is its version and changes with every update`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            #expect(try await api.send(.get, path).header("etag")?.unmarked == #""1""#)
            #expect(try await api.send(.patch, path, token: "owner", type: mergePatch, #"{"name":"Tea"}"#).status == 200)
            #expect(try await api.send(.get, path).header("etag")?.unmarked == #""2""#)
            #expect(try await api.send(.head, path).header("etag")?.unmarked == #""2""#)
        }
    }

    @Test func `a PATCH answers with the entity tag of the changed event, and a PUT with none`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let path = "/v1/events/\(try await api.createEvent("owner"))"
                let key = ["idempotency-key": "1"]
                let patch = #"{"name":"Tea","lat":-0}"#
                let first = try await api.send(.patch, path, token: "owner", type: mergePatch, patch, headers: key)
                let tag = try #require(first.header("etag"))
                #expect(try await api.send(.get, path).header("etag") == tag)
                #expect(
                    try await api.send(.patch, path, token: "owner", type: mergePatch, patch, headers: key).header("etag") == tag)
                let whole = try await api.send(
                    .patch, path, token: "owner", TestAPI.required, headers: ["if-match": tag])
                #expect(whole.header("etag") == (try await api.send(.get, path).header("etag")))
                // The event changed after the request that is repeated.
                let late = try await api.send(.patch, path, token: "owner", type: mergePatch, patch, headers: key)
                #expect((late.status, late.header("etag")) == (200, tag))
                #expect(try await api.send(.put, path, token: "owner", TestAPI.required).header("etag") == nil)
            }
        }
    }

    @Test func `a patch without a field that can be changed leaves the version, and unknown fields alone get 422`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let tag = try #require(try await api.send(.get, path).header("etag"))
            let empty = try await api.send(.patch, path, token: "owner", type: mergePatch, "{}")
            #expect((empty.status, empty.body, empty.header("etag")) == (200, #"{"id":1}"#, tag))
            let misspelt = try await api.send(.patch, path, token: "owner", type: mergePatch, #"{"nmae":"Tea"}"#)
            let errors = #"{"message":"Validation Failed","errors":["Nmae is not a field that can be changed"]}"#
            #expect((misspelt.status, misspelt.body) == (422, errors))
            #expect(try await api.send(.get, path).header("etag") == tag)
            #expect(try await api.log.tail() == 2)
        }
    }

    @Test func `the marks of two contents differ, and a tag with another mark names no version`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let first = try #require(try await api.send(.get, path).header("etag"))
            #expect(try await api.send(.patch, path, token: "owner", type: mergePatch, #"{"name":"Tea"}"#).status == 200)
            let second = try #require(try await api.send(.get, path).header("etag"))
            #expect(first.dropFirst(2) != second.dropFirst(2))
            let other = #""2"# + first.dropFirst(2)
            for (tag, status) in [(second, 304), (other, 200), (first, 200)] {
                #expect(try await api.send(.get, path, headers: ["if-none-match": tag]).status == status)
            }
            for (tag, status) in [(first, 412), (other, 412), (second, 200)] {
                let answer = try await api.send(
                    .patch, path, token: "owner", type: mergePatch, #"{"name":"Chess"}"#, headers: ["if-match": tag])
                #expect(answer.status == status)
            }
        }
    }

    @Test func `If-None-Match with the current tag gets 304, and any other condition gets the event`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let tag = try await api.tag(path)
            for condition in [#""1""#, #"W/"1""#, #""7", "1""#, #" "x","1" "#, "*"] {
                let answer = try await api.send(.get, path, headers: ["if-none-match": condition.marked(as: tag)])
                #expect((answer.status, answer.body) == (304, ""), "\(condition)")
                #expect(answer.header("etag")?.unmarked == #""1""#)
            }
            for condition in try [#""2""#, "1", #""01""#, #""1"#, "", #""1 ""#, "* *"].map({ try $0.marked(as: tag) }) + [#""1""#]
            {
                #expect(try await api.send(.get, path, headers: ["if-none-match": condition]).status == 200, "\(condition)")
            }
        }
    }

    @Test func `If-Match applies to reads`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let tag = try #require(try await api.tag(path))
            for (condition, status) in [(tag, 200), (#""1""#, 412), (#""2""#, 412), ("*", 200), ("* *", 412)] {
                #expect(try await api.send(.get, path, headers: ["if-match": condition]).status == status, "\(condition)")
            }
        }
    }

    @Test func `If-Match allows an update of the named version only`() async throws {
        try await TestAPI.with { api in
            for method in [HTTPRequest.Method.patch, .put] {
                let id = try await api.createEvent("owner")
                let path = "/v1/events/\(id)"
                let first = try await api.tag(path)
                for condition in [#""2""#, #"W/"1""#, "1", "", #""x""#, #""99999999999""#] {
                    let answer = try await api.send(
                        method, path, token: "owner", TestAPI.required,
                        headers: ["if-match": condition.marked(as: first)])
                    #expect(
                        (answer.status, answer.body) == (412, #"{"message":"Precondition Failed"}"#), "\(method) \(condition)")
                }
                #expect(try await api.send(.get, path).json?["name"] == "Party", "\(method)")
                for condition in [#""1""#, #""7", "2""#, "*"] {
                    let tag = try await api.tag(path)
                    let answer = try await api.send(
                        method, path, token: "owner", TestAPI.required,
                        headers: ["if-match": condition.marked(as: tag)])
                    #expect((answer.status, answer.body) == (200, #"{"id":\#(id)}"#), "\(method) \(condition)")
                }
            }
        }
    }

    @Test func `If-None-Match forbids an update of the named version`() async throws {
        try await TestAPI.with { api in
            for method in [HTTPRequest.Method.patch, .put] {
                let path = "/v1/events/\(try await api.createEvent("owner"))"
                let tag = try await api.tag(path)
                for (condition, status) in [(#""1""#, 412), (#"W/"1""#, 412), ("*", 412), (#""3", "1""#, 412), (#""2""#, 200)] {
                    let answer = try await api.send(
                        method, path, token: "owner", TestAPI.required,
                        headers: ["if-none-match": condition.marked(as: tag)])
                    #expect(answer.status == status, "\(method) \(condition)")
                }
            }
        }
    }

    @Test func `a caller who may not update an event gets 403 or 404, not 412`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            try await api.signUp("other")
            let stale = ["if-match": #""7""#]
            #expect(try await api.send(.put, path, token: "other", TestAPI.required, headers: stale).status == 403)
            #expect(
                try await api.send(.put, "/v1/events/9", token: "other", TestAPI.required, headers: stale).status
                    == 404)
        }
    }
}

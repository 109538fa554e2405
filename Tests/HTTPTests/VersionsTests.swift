import EventStore
import HTTPTypes
import Notation
import Testing

@Suite struct `The version of an event` {
    @Test func `is its entity tag, and a new one after every change`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            #expect(try await api.send(.get, path).header("etag") == #""1""#)
            #expect(try await api.send(.patch, path, token: "owner", type: mergePatch, "{}").status == 200)
            #expect(try await api.send(.get, path).header("etag") == #""2""#)
            #expect(try await api.send(.head, path).header("etag") == #""2""#)
        }
    }

    @Test(arguments: [#""1""#, #"W/"1""#, #""7", "1""#, #" "x","1" "#, "*"])
    func `that the caller has is not answered again`(condition: String) async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let answer = try await api.send(.get, path, headers: ["if-none-match": condition])
            #expect((answer.status, answer.body) == (304, ""))
            #expect(answer.header("etag") == #""1""#)
        }
    }

    @Test(arguments: [#""2""#, "1", #""01""#, #""1"#, "", #""1 ""#])
    func `that the caller has not is answered`(condition: String) async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            #expect(try await api.send(.get, path, headers: ["if-none-match": condition]).status == 200)
        }
    }

    @Test(arguments: [HTTPRequest.Method.patch, .put], [#""1""#, #""3", "1""#, "*"])
    func `that the caller expects may be changed`(method: HTTPRequest.Method, condition: String) async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let answer = try await api.send(
                method, path, token: "owner", `Changing an event`.required, headers: ["if-match": condition])
            #expect((answer.status, answer.body) == (200, #"{"id":1}"#))
        }
    }

    @Test(arguments: [HTTPRequest.Method.patch, .put], [#""2""#, #"W/"1""#, "1", "", #""x""#, #""99999999999""#])
    func `that the caller does not expect may not`(method: HTTPRequest.Method, condition: String) async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let answer = try await api.send(
                method, path, token: "owner", `Changing an event`.required, headers: ["if-match": condition])
            #expect((answer.status, answer.body) == (412, #"{"message":"Precondition Failed"}"#))
            #expect(try await api.send(.get, path).json?["name"] == "Party")
        }
    }

    @Test func `lets one of many through who saw the same`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        try await api.send(
                            .patch, path, token: "owner", type: mergePatch, #"{"name":"\#(number)"}"#,
                            headers: ["if-match": #""1""#]
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 412 }.count == 29)
        }
    }

    @Test func `is no secret to those who may not change it`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))"
            try await api.signUp("other")
            let stale = ["if-match": #""7""#]
            #expect(try await api.send(.put, path, token: "other", `Changing an event`.required, headers: stale).status == 403)
            #expect(
                try await api.send(.put, "/v1/events/9", token: "other", `Changing an event`.required, headers: stale).status
                    == 404)
        }
    }
}

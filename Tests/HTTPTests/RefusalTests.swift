import Encoding
import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Refusing a request` {
    @Test func `broken JSON gets 400 with the position of the error`() async throws {
        let cases: [(body: String, message: String)] = [
            ("{", "The body is not JSON: the text ends where a member's name in quotes should stand at line 1, column 2"),
            ("[]", "The body must be a JSON object"), ("\"x\"", "The body must be a JSON object"),
            ("name=Party", "The body is not JSON: null should stand here, at line 1, column 2"),
        ]
        try await TestAPI.with { api in
            for (body, message) in cases {
                let answer = try await api.send(.post, "/v1/events", token: "nobody", body)
                #expect((answer.status, answer.body) == (400, #"{"message":"\#(message)"}"#), "\(body)")
            }
        }
    }

    @Test func `a broken form gets 400`() async throws {
        try await TestAPI.with { api in
            for body in ["a=%", "a=%FF", "a=%zz", "event=1&event[id]=2", "[x]=1", "a[=1"] {
                let answer = try await api.send(.post, "/v1/events", token: "x", type: form, body)
                #expect(answer.status == 400, "\(body)")
                #expect(answer.body.hasPrefix(#"{"message":"The body is not a form: "#), "\(body)")
            }
        }
    }

    @Test func `an unsupported content type gets 415`() async throws {
        let types: [String] = [
            "text/plain", "multipart/form-data; boundary=x", "application/xml", "application/json; charset=latin1",
            "application/merge-patch+json", "nonsense",
        ]
        try await TestAPI.with { api in
            for type in types {
                let answer = try await api.send(.post, "/v1/events", token: "x", type: type, "{}")
                #expect(answer.status == 415, "\(type)")
                #expect(answer.json?["message"] != nil, "\(type)")
            }
        }
    }

    @Test func `an unsupported method gets 405 with the supported ones`() async throws {
        let cases: [(method: HTTPRequest.Method, path: String, allowed: String)] = [
            (.post, "/v1/events/1", "GET, HEAD, PATCH, PUT, DELETE"), (.get, "/v1/users", "POST"),
            (.put, "/v1/events", "POST, GET, HEAD"),
            (.patch, "/v1/events/nearests", "GET, HEAD"), (.options, "/v1/attendances", "POST"),
            (HTTPRequest.Method("BREW") ?? .trace, "/v1/events/1.json", "GET, HEAD, PATCH, PUT, DELETE"),
        ]
        try await TestAPI.with { api in
            for (method, path, allowed) in cases {
                let answer = try await api.send(method, path)
                #expect((answer.status, answer.body) == (405, #"{"message":"Method Not Allowed"}"#), "\(method) \(path)")
                #expect(answer.header("allow") == allowed, "\(method) \(path)")
            }
        }
    }

    @Test func `an unknown path gets 404`() async throws {
        try await TestAPI.with { api in
            for path in ["/", "/v1", "/v1/nothing", "/v2/events/1", "/v1/events/1/2", "/.json", "/v1/events/%2e%2e"] {
                let answer = try await api.send(.get, path)
                #expect((answer.status, answer.body) == (404, notFound), "\(path)")
                #expect(answer.header("x-request-id") != nil, "\(path)")
            }
        }
    }
}

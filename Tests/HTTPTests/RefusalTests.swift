import Encoding
import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Refusing a request` {
    @Test func `broken JSON gets 400 with the position of the error`() async throws {
        let cases: [(body: String, message: String)] = [
            ("{", "The body is not JSON: the text ends where a member's name in quotes should stand at line 1, column 2"),
            (#"{"name":tru}"#, "The body is not JSON: true should stand here, at line 1, column 12"),
            ("[]", "The body must be a JSON object"),
            ("\"x\"", "The body must be a JSON object"),
            ("name=Party", "The body is not JSON: null should stand here, at line 1, column 2"),
            (#"{"name":"\uD83C"}"#, "The body is not JSON: half a surrogate pair at line 1, column 10"),
            (#"{"lat":01}"#, "The body is not JSON: a comma or a closing brace should stand here, at line 1, column 9"),
        ]
        try await TestAPI.with { api in
            for (body, message) in cases {
                let answer = try await api.send(.post, "/v1/events", token: "nobody", body)
                #expect((answer.status, answer.body) == (400, #"{"message":"\#(message)"}"#), "\(body)")
            }
        }
    }

    @Test func `bytes that are not JSON get 400`() async throws {
        let cases: [[UInt8]] = [
            [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], [0x00], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
            Array(repeating: 0x5B, count: 5_000),
            Array(repeating: 0x20, count: 10),
        ]
        try await TestAPI.with { api in
            for bytes in cases {
                let answer = try await api.send(
                    .post, "/v1/events", headers: ["content-type": "application/json", "tb-device-token": "x"], bytes: bytes
                )
                #expect(answer.status == 400, "\(bytes.prefix(8)), \(bytes.count) bytes")
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

    @Test func `unusable numbers get 422 with one error each`() async throws {
        let cases: [(numbers: String, errors: String)] = [
            (#""lat":1e400,"lon":-1e400"#, #""Lat must be between -90 and 90","Lon must be between -180 and 180""#),
            (#""lat":true,"lon":[1]"#, #""Lat is not a number","Lon is not a number""#),
            (#""lat":"0x10","lon":"1,5""#, #""Lat is not a number","Lon is not a number""#),
            (#""lat":{},"lon":"٣""#, #""Lat is not a number","Lon is not a number""#),
        ]
        try await TestAPI.with { api in
            for (numbers, errors) in cases {
                let body = #"{"name":"x","started_at":"2013-09-16T00:00:00Z",\#(numbers)}"#
                let answer = try await api.send(.post, "/v1/events", token: "x", body)
                #expect(
                    (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":[\#(errors)]}"#), "\(numbers)"
                )
            }
        }
    }

    @Test func `an unusable name gets 422`() async throws {
        let cases: [(name: String, error: String)] = [
            (#""a\u0000b""#, "Name contains a null character"), ("5", "Name is not a text"), ("[]", "Name is not a text"),
            ("\"\(String(repeating: "é", count: 256))\"", "Name is too long (maximum is 255 characters)"),
        ]
        try await TestAPI.with { api in
            for (name, error) in cases {
                let body = #"{"name":\#(name),"started_at":"2013-09-16T00:00:00Z","lat":1,"lon":1}"#
                let answer = try await api.send(.post, "/v1/events", token: "x", body)
                #expect(
                    (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":["\#(error)"]}"#), "\(name)")
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

    @Test(arguments: [TestingSetup.router, .live])
    func `a body over the limit gets 413`(setup: TestingSetup) async throws {
        try await TestAPI.with(setup, bodyLimitBytes: 1_000) { api in
            let body = #"{"name":"\#(String(repeating: "x", count: 2_000))"}"#
            let answer = try await api.send(.post, "/v1/events", token: "x", body)
            #expect((answer.status, answer.body) == (413, #"{"message":"The body is larger than 1000 bytes"}"#))
            #expect(try await api.send(.get, "/health").status == 200)
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

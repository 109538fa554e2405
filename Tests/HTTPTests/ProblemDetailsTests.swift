import Encoding
import HTTPServer
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

/// A request that is refused, and the whole body of its response in both forms.
private struct Refusal: Sendable {
    var method = HTTPRequest.Method.get
    var path: String
    var headers: [String: String] = [:]
    var body: String?
    var status: Int
    var plain: String
    /// The members between `type` and `request_id`.
    var problem: String

    var code: String { problem.firstMatch(of: /"code":"(\w+)"/).map { String($0.1) } ?? "" }

    static func post(
        _ path: String, _ body: String, headers: [String: String] = [:], _ status: Int, _ plain: String, _ problem: String
    ) -> Refusal {
        let headers = ["tb-device-token": "owner", "content-type": "application/json"].merging(headers) { $1 }
        return Refusal(
            method: .post, path: path, headers: headers, body: body, status: status, plain: plain, problem: problem)
    }
}

@Suite struct `Errors as problem details` {
    private static let validationFailed = #""title":"Validation failed","status":422,"code":"validation_failed","errors":"#
    private static let missing = #""title":"Not found","status":404,"code":"not_found""#

    private static let refusals = [
        Refusal.post(
            "/v1/events", "{", 400,
            #"{"message":"The body is not JSON: the text ends where a member's name in quotes should stand at line 1, column 2"}"#,
            #""title":"Malformed body","status":400,"code":"malformed_body","detail":"The body is not JSON: the text ends where a member's name in quotes should stand at line 1, column 2""#
        ),
        Refusal(
            path: "/v1/events/nearests?lat=%FF&lon=1", status: 400,
            plain: #"{"message":"The query is not readable: bytes that are no percent-encoded UTF-8 in pair 1"}"#,
            problem:
                #""title":"Malformed query","status":400,"code":"malformed_query","detail":"The query is not readable: bytes that are no percent-encoded UTF-8 in pair 1""#
        ),
        Refusal(
            path: "/v1/events/1", headers: ["humon-position": "here"], status: 400,
            plain: #"{"message":"Humon-Position is not a position"}"#,
            problem:
                #""title":"Malformed position","status":400,"code":"malformed_position","detail":"Humon-Position is not a position""#
        ),
        Refusal.post(
            "/v1/events", "{}", headers: ["idempotency-key": "a,b"], 422,
            #"{"message":"Validation Failed","errors":["Lat can't be blank","Lon can't be blank","Name can't be blank","Started at can't be blank"]}"#,
            validationFailed
                + #"[{"pointer":"/lat","code":"blank","detail":"Lat can't be blank"},{"pointer":"/lon","code":"blank","detail":"Lon can't be blank"},{"pointer":"/name","code":"blank","detail":"Name can't be blank"},{"pointer":"/started_at","code":"blank","detail":"Started at can't be blank"}]"#
        ),
        Refusal.post(
            "/v1/events", `Repeating a command`.details, headers: ["idempotency-key": "a,b"], 400,
            #"{"message":"The Idempotency-Key must be 1 to 255 visible ASCII characters without a comma, or a string in quotes"}"#,
            #""title":"Malformed idempotency key","status":400,"code":"malformed_idempotency_key","detail":"The Idempotency-Key must be 1 to 255 visible ASCII characters without a comma, or a string in quotes""#
        ),
        Refusal.post(
            "/v1/events", #"{"lat":91,"lon":"east","name":5,"started_at":"soon","address":"a\u0000b","ended_at":true}"#, 422,
            #"{"message":"Validation Failed","errors":["Lat must be between -90 and 90","Lon is not a number","Name is not a text","Started at is not a valid time","Address contains a null character","Ended at is not a valid time"]}"#,
            validationFailed
                + #"[{"pointer":"/lat","code":"out_of_range","detail":"Lat must be between -90 and 90"},{"pointer":"/lon","code":"not_a_number","detail":"Lon is not a number"},{"pointer":"/name","code":"not_a_text","detail":"Name is not a text"},{"pointer":"/started_at","code":"not_a_time","detail":"Started at is not a valid time"},{"pointer":"/address","code":"invalid_characters","detail":"Address contains a null character"},{"pointer":"/ended_at","code":"not_a_time","detail":"Ended at is not a valid time"}]"#
        ),
        Refusal(
            path: "/v1/events/nearests?lat=1&limit=1.5&after=zzz", status: 422,
            plain:
                #"{"message":"Validation Failed","errors":["Lon can't be blank","Limit is not a whole number","After is not a valid cursor"]}"#,
            problem: validationFailed
                + #"[{"pointer":"/lon","code":"blank","detail":"Lon can't be blank"},{"pointer":"/limit","code":"not_a_whole_number","detail":"Limit is not a whole number"},{"pointer":"/after","code":"not_a_cursor","detail":"After is not a valid cursor"}]"#
        ),
        Refusal.post(
            "/v1/attendances", #"{"event":{"id":"x"}}"#, 422,
            #"{"message":"Validation Failed","errors":["Event is not a number"]}"#,
            validationFailed + #"[{"pointer":"/event/id","code":"not_a_number","detail":"Event is not a number"}]"#),
        Refusal.post(
            "/v1/users", "", headers: ["tb-app-secret": TestAPI.secret, "tb-device-token": String(repeating: "x", count: 256)],
            422,
            #"{"message":"Validation Failed","errors":["Device token is too long (maximum is 255 bytes)"]}"#,
            validationFailed
                + #"[{"pointer":"/device_token","code":"too_long","detail":"Device token is too long (maximum is 255 bytes)"}]"#),
        Refusal.post(
            "/v1/events", TestAPI.required, headers: ["idempotency-key": "k1"], 422,
            #"{"message":"Validation Failed","errors":["Idempotency-Key was used for another request"]}"#,
            #""title":"Idempotency key reused","status":422,"code":"idempotency_key_reused","detail":"Idempotency-Key was used for another request""#
        ),
        Refusal(
            method: .post, path: "/v1/events", status: 401, plain: "",
            problem: #""title":"Unauthorized","status":401,"code":"unauthorized""#),
        Refusal(
            method: .patch, path: "/v1/events/1", headers: ["tb-device-token": "friend", "content-type": "application/json"],
            body: TestAPI.required, status: 403, plain: #"{"message":"Forbidden"}"#,
            problem: #""title":"Forbidden","status":403,"code":"forbidden""#),
        Refusal(path: "/v1/events/99", status: 404, plain: notFound, problem: missing),
        Refusal(path: "/v1/nothing", status: 404, plain: notFound, problem: missing),
        Refusal(method: .post, path: "/v1/users", status: 404, plain: "", problem: missing),
        Refusal.post("/v1/attendances", #"{"event":{"id":99}}"#, 404, notFound, missing),
        Refusal(
            method: .delete, path: "/v1/users", status: 405, plain: #"{"message":"Method Not Allowed"}"#,
            problem: #""title":"Method not allowed","status":405,"code":"method_not_allowed""#),
        Refusal(
            method: .patch, path: "/v1/events/1",
            headers: ["tb-device-token": "owner", "content-type": "application/json", "if-match": "\"9\""],
            body: TestAPI.required, status: 412, plain: #"{"message":"Precondition Failed"}"#,
            problem: #""title":"Precondition failed","status":412,"code":"precondition_failed""#),
        Refusal.post(
            "/v1/events", String(repeating: " ", count: 1_001), 413,
            #"{"message":"The body is larger than 1000 bytes"}"#,
            #""title":"Content too large","status":413,"code":"content_too_large","detail":"The body is larger than 1000 bytes""#
        ),
        Refusal(
            path: "/v1/events/1?" + String(repeating: "x", count: 8_192), status: 414,
            plain: #"{"message":"The path and the query are longer than 8192 bytes"}"#,
            problem:
                #""title":"Target too long","status":414,"code":"target_too_long","detail":"The path and the query are longer than 8192 bytes""#
        ),
        Refusal.post(
            "/v1/events", "{}", headers: ["content-type": "text/plain"], 415,
            #"{"message":"The content type must be one of: application/json, application/x-www-form-urlencoded"}"#,
            #""title":"Unsupported media type","status":415,"code":"unsupported_media_type","detail":"The content type must be one of: application/json, application/x-www-form-urlencoded""#
        ),
        Refusal(
            path: "/v1/events/1", headers: ["humon-position": "1000000"], status: 503,
            plain: #"{"message":"Service Unavailable"}"#,
            problem: #""title":"Position not reached","status":503,"code":"position_not_reached""#),
    ]

    /// The loopback address is a trusted peer, so that its request id counts.
    private static func send(_ refusal: Refusal, accept: String?, _ api: TestAPI) async throws -> TestAPI.Answer {
        var headers = refusal.headers
        headers["accept"] = accept
        headers["x-request-id"] = "r-1"
        return try await api.send(refusal.method, refusal.path, headers: headers, bytes: refusal.body.map { Array($0.utf8) })
    }

    private static func withRefusals(_ body: @escaping @Sendable (TestAPI, [Refusal]) async throws -> Void) async throws {
        try await TestAPI.with(.live, bodyLimitBytes: 1_000) { api in
            _ = try await api.createEvent("owner")
            try await api.signUp("friend")
            let first = try await api.send(
                .post, "/v1/events", token: "owner", `Repeating a command`.details, headers: ["idempotency-key": "k1"])
            try #require(first.status == 200)
            try await body(api, refusals)
        }
    }

    @Test func `a client that names application/problem+json gets every error as problem details, any other the bytes of v1`()
        async throws
    {
        try await Self.withRefusals { api, refusals in
            func fields(_ answer: TestAPI.Answer) -> [String] {
                answer.headers.filter { ![.contentType, .contentLength, .vary, .date].contains($0.name) }
                    .map { "\($0.name): \($0.value)" }.sorted()
            }
            for refusal in refusals {
                let plain = try await Self.send(refusal, accept: nil, api)
                #expect((plain.status, plain.body) == (refusal.status, refusal.plain), "\(refusal.path.prefix(80))")
                #expect(plain.header("content-type") == (refusal.plain.isEmpty ? nil : "application/json; charset=utf-8"))
                #expect(plain.header("vary") == nil, "\(refusal.path.prefix(80))")
                let answer = try await Self.send(refusal, accept: "application/problem+json", api)
                #expect(fields(plain) == fields(answer), "\(refusal.path.prefix(80))")
                let expected = #"{"type":"/docs#error-\#(refusal.code)",\#(refusal.problem),"request_id":"r-1"}"#
                #expect(
                    (answer.status, answer.body) == (refusal.status, expected), "\(refusal.method) \(refusal.path.prefix(80))")
                #expect(answer.header("content-type") == "application/problem+json")
                #expect(answer.header("vary") == "Accept")
                #expect(answer.header("cache-control") == "no-store")
            }
        }
    }

    @Test func `a sign-up without the secret cannot be told from an unknown path`() async throws {
        try await TestAPI.with(.live) { api in
            func answer(_ path: String) async throws -> [String] {
                let headers = ["accept": "application/problem+json", "x-request-id": "r-1"]
                let answer = try await api.send(.post, path, headers: headers)
                return ["\(answer.status)", answer.body] + answer.headers.filter { $0.name != .date }.map { "\($0)" }.sorted()
            }
            let (hidden, unknown) = (try await answer("/v1/users"), try await answer("/v1/unknown"))
            #expect(hidden == unknown)
        }
    }

    @Test func `a refused preflight request gets problem details, and pages may read them`() async throws {
        try await TestAPI.with(cors: .these([Origin("https://app.example.org")!])) { api in
            let accept = ["accept": "application/problem+json"]
            let refused = try await api.send(
                .options, "/v1/events/1",
                headers: accept.merging(["origin": "https://evil.example.org", "access-control-request-method": "PATCH"]) { $1 })
            #expect((refused.status, refused.json?["code"]) == (405, "method_not_allowed"))
            #expect(refused.header("access-control-allow-origin") == nil)
            let read = try await api.send(
                .get, "/v1/events/9", headers: accept.merging(["origin": "https://app.example.org"]) { $1 })
            #expect((read.status, read.header("access-control-allow-origin")) == (404, "https://app.example.org"))
            #expect(read.header("vary") == "Accept, Origin")
        }
    }

    @Test func `a response to HEAD has the type of the problem details and no body`() async throws {
        try await TestAPI.with(.live) { api in
            let headers = ["accept": "application/problem+json"]
            let answer = try await api.send(.head, "/v1/events/9", headers: headers)
            #expect((answer.status, answer.body, answer.header("content-type")) == (404, "", "application/problem+json"))
        }
    }

    @Test func `success, an unchanged list and the health keep their form`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent()
            let accept = ["accept": "application/problem+json"]
            let event = try await api.send(.get, "/v1/events/\(id)", headers: accept)
            #expect((event.status, event.header("content-type")) == (200, "application/json; charset=utf-8"))
            #expect(event.header("vary") == nil)
            let known = accept.merging(["if-none-match": event.header("etag") ?? ""]) { $1 }
            let same = try await api.send(.get, "/v1/events/\(id)", headers: known)
            #expect((same.status, same.body) == (304, ""))
            #expect(try await api.send(.get, "/health", headers: accept).json?["status"] == "ok")
        }
    }
}

import Encoding
import EventStore
import HTTPTypes
import Testing

@testable import HTTP

/// Commands are sent twice under one idempotency key.
@Suite(.api()) struct `Repeating a command` {
    static let details = #"{"name":"Party","lat":1.5,"lon":2.5,"started_at":"2014-01-01T00:00:00Z"}"#

    @Test func `concurrent repetitions create one event`() async throws {
        try await api.signUp("owner")
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<40 {
                group.addTask { try await api.send(.post, "/v1/events", token: "owner", key: "k", Self.details).body }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies.count == 1)
        #expect(try await api.log.tail() == 2, "doubled write")
    }

    @Test func `exactly the keys that the OpenAPI document allows are accepted`() async throws {
        let schema = OpenAPIDocument.json["components"]?["parameters"]?["IdempotencyKey"]?["schema"]
        let pattern = try Regex(#require(schema?["pattern"]?.string))
        let (longest, quote) = (String(repeating: "k", count: 255), "\\\"")
        let keys = [
            "k", "!", "~", "'", "a\"b", "a\\b", "(a)", "a-b", longest, longest + "k", "", "a b", "a,b", ",", "é", "\u{7F}",
            #""k""#, #"" ""#, #""a,b""#, #""é""#, #""k";p=1"#, #""k"; p"#, #""k" ;p"#, #""k"p"#, #""k"#, #"""#, #"""""#, #""\""#,
            #""\\""#, #""a\b""#, "\"\(longest)\"", "\"\(longest)k\"", "\"\(String(repeating: quote, count: 255))\"",
        ]
        let expected = try keys.map { (key: $0, status: try pattern.wholeMatch(in: $0) == nil ? 400 : 200) }
        try await api.signUp("owner")
        for (key, status) in expected {
            let answer = try await api.send(.post, "/v1/events", token: "owner", key: key, Self.details)
            #expect(answer.status == status, "\(key)")
        }
    }
}

extension TestAPI {
    fileprivate func send(
        _ method: HTTPRequest.Method, _ path: String, token: String, type: String = "application/json", key: String?,
        _ body: String
    ) async throws -> Answer {
        try await send(method, path, token: token, type: type, body, headers: key.map { ["idempotency-key": $0] } ?? [:])
    }
}

import Encoding
import HTTPTypes
import TestHTTP
import Testing

/// `problems.http` shows the others.
@Suite(.api(.live)) struct `Errors as problem details` {
    @Test func `a body and a target that are too large get problem details, and the health keeps its form`() async throws {
        // The loopback address is a trusted peer, so that its request id counts.
        let headers = [
            "accept": "application/problem+json", "content-type": "application/json", "x-request-id": "r-1",
            "tb-device-token": "owner",
        ]
        let large = try await api.send(.post, "/v1/events", headers: headers, bytes: [UInt8](repeating: 0x20, count: 65_537))
        #expect(
            large.body
                == #"{"type":"/docs#error-content_too_large","title":"Content too large","status":413,"code":"content_too_large","detail":"The body is larger than 65536 bytes","request_id":"r-1"}"#
        )
        let long = try await api.send(.get, "/v1/events/1?" + String(repeating: "x", count: 8_192), headers: headers)
        #expect(
            long.body
                == #"{"type":"/docs#error-target_too_long","title":"Target too long","status":414,"code":"target_too_long","detail":"The path and the query are longer than 8192 bytes","request_id":"r-1"}"#
        )
        #expect((large.status, long.status) == (413, 414))
        #expect(try await api.send(.get, "/health", headers: headers).json?["status"] == "ok")
    }

    @Test func `a cancelled event is in the problem details of its own address, and nowhere else`() async throws {
        let id = try await api.createEvent("owner", name: "Jazz night")
        let event = try await api.send(.get, "/v1/events/\(id)").json
        #expect(try await api.send(.delete, "/v1/events/\(id)", token: "owner").status == 200)
        let problems = ["accept": "application/json, application/problem+json"]
        let cancelled = try await api.send(.get, "/v1/events/\(id)", headers: problems)
        #expect((cancelled.status, cancelled.json?["event"]) == (410, event))
        #expect(try await api.send(.get, "/v1/events/\(id)").body == #"{"message":"Event Cancelled"}"#)
        let attendance = try await api.send(.get, "/v1/events/\(id)/attendance", headers: problems)
        #expect((attendance.status, attendance.json?["event"]) == (410, nil))
    }

    @Test func `a sign-up without the secret cannot be told from an unknown path`() async throws {
        func answer(_ path: String) async throws -> [String] {
            let headers = ["accept": "application/problem+json", "x-request-id": "r-1"]
            let answer = try await api.send(.post, path, headers: headers)
            return ["\(answer.status)", answer.body] + answer.headers.filter { $0.name != .date }.map { "\($0)" }.sorted()
        }
        let (hidden, unknown) = (try await answer("/v1/users"), try await answer("/v1/unknown"))
        #expect(hidden == unknown)
    }
}

import HTTP
import HTTPTypes
import Testing

@Suite struct `The health of the server` {
    @Test(arguments: ["/health", "/health/live", "/health/live.json", "/health/live/"])
    func `is told to everybody`(path: String) async throws {
        try await TestAPI.with(reads: .devices) { api in
            let answer = try await api.send(.get, path, headers: [:])
            #expect((answer.status, answer.body) == (200, #"{"status":"ok"}"#))
            #expect(answer.header("content-type") == "application/json; charset=utf-8")
            #expect(answer.header("x-request-id") != nil)
        }
    }
}

import HTTP
import HTTPTypes
import Testing

@Suite struct `The health of the server` {
    private static let alive = #"{"status":"ok"}"#
    private static let ready = #"{"status":"ok","database":"ok","memory":"in_use"}"#

    @Test(arguments: [("/health", ready), ("/health/live", alive), ("/health/live.json", alive), ("/health/live/", alive)])
    func `is told to everybody`(path: String, body: String) async throws {
        try await TestAPI.with(reads: .devices) { api in
            let answer = try await api.send(.get, path, headers: [:])
            #expect((answer.status, answer.body) == (200, body))
            #expect(answer.header("content-type") == "application/json; charset=utf-8")
            #expect(answer.header("x-request-id") != nil)
        }
    }
}

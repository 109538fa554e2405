import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The request log` {
    private static let secrets = ["s3cret-of-the-app", "phone-of-somebody", "12.345678", "key-of-mine", "ailment"]

    private static func lines(_ server: HumonProcess, _ count: Int) async throws -> [String] {
        func lines() -> [String] { server.error.split(separator: "\n").filter { $0.contains("request_id") }.map(String.init) }
        try await eventually("\(count) lines", every: .milliseconds(50)) { lines().count >= count }
        return lines()
    }

    private static func send(_ base: String) async throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _ = try await exchange(
            "POST", base + "/v1/users",
            headers: [
                ("tb-app-secret", secrets[0]), ("tb-device-token", secrets[1]), ("x-request-id", "mine-1"),
                ("traceparent", trace),
            ])
        _ = try await exchange(
            "GET", base + "/v1/events/nearests?lat=\(secrets[2])&lon=1&q=\(secrets[4])&tb-device-token=\(secrets[1])")
        _ = try await exchange("GET", base + "/v1/\(secrets[1])", headers: [("idempotency-key", secrets[3])])
    }

    @Test func `the level info writes one object per request in JSON`() async throws {
        let environment = ["TB_APP_SECRET": Self.secrets[0], "HUMON_LOG_LEVEL": "info", "HUMON_LOG_FORMAT": "json"]
        try await HumonProcess.withServer(environment: environment) { server, port, _ in
            try await Self.send("http://127.0.0.1:\(port)")
            let lines = try await Self.lines(server, 3)
            for line in server.error.split(separator: "\n") { #expect(throws: Never.self) { try JSON(utf8: line.utf8) } }
            let requests = try lines.map { try JSON(utf8: $0.utf8) }
            try #require(requests.count == 3, "\(server.error)")
            #expect(requests[0]["request_id"] == "mine-1")
            #expect(requests.map { $0["trace_id"] } == ["0af7651916cd43dd8448eb211c80319c", nil, nil])
            #expect(requests.map { $0["method"] } == ["POST", "GET", "GET"])
            #expect(requests.map { $0["route"] } == ["/v1/users", "/v1/events/nearests", "-"])
            #expect(requests.map { $0["status"] } == [.number("200"), .number("200"), .number("404")])
            #expect(requests[1]["bytes"] == .number("29"))
            for request in requests {
                #expect((request["message"], request["level"], request["client"]) == ("request", "info", "127.0.0.1"))
                guard case .number(let text) = request["milliseconds"] else { throw NoNumber() }
                #expect(try (0.001...60_000).contains(#require(Double(text))))
            }
            for secret in Self.secrets { #expect(!server.error.contains(secret)) }
        }
    }

    private struct NoNumber: Error {}
}

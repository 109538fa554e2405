import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `Streams of changes of a server` {
    private static let request = "GET /v1/events/changes?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\n\r\n"

    /// Opens a stream and waits for its first lines.
    private static func open(_ port: Int) async throws -> RawConnection {
        let stream = try RawConnection(port: port)
        try stream.send(request)
        let head = try await stream.receive { $0.hasSuffix("\n\n\r\n") }.text
        try #require(head.hasPrefix("HTTP/1.1 200 ") && head.contains("retry: 2000\nid: "), "\(head)")
        return stream
    }

    @Test func `a server that drains sends its streams their last position and ends them`() async throws {
        // Longer than the test takes; a second signal ends the drain.
        try await HumonProcess.withServer(environment: ["HUMON_DRAIN_SECONDS": "600"]) { server, port, _ in
            let stream = try await Self.open(port)
            server.send(SIGTERM)
            let rest = try await stream.receive()
            #expect(rest.text.contains(/^[0-9a-f]+\r\nid: \d+(\.[a-p]{8})?\n\n\r\n0\r\n\r\n$/) && rest.isEnded, "\(rest.text)")
            server.send(SIGTERM)
            #expect(try await server.untilExit() == 128 + SIGTERM)
        }
    }
}

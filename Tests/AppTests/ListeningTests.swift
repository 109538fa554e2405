import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `The addresses of a server` {
    private static let read = "GET /v1/events/nearests?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\nX-Request-Id: mine\r\n\r\n"

    private static func withDirectory(_ body: (URL, [String: String]) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory in
            try await body(directory, ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret])
        }
    }

    @Test func `a server whose files are all open serves its connections, and waits before it accepts another one`() async throws
    {
        try await Self.withDirectory { directory, environment in
            let server = try HumonProcess(
                ["-c", "ulimit -n 250; exec \"$0\" serve", HumonProcess.executable.path], in: directory, environment: environment,
                executable: URL(fileURLWithPath: "/bin/sh"))
            let port = try await server.port()
            #expect(server.error.contains("raise the limit"), "\(server.error)")
            let kept = try RawConnection(port: port)
            func isServed() async throws -> Bool {
                try kept.send(Self.read)
                return try await kept.receive(until: { $0.hasSuffix("}") }).text.contains("200 OK")
            }
            #expect(try await isServed())
            let start = ContinuousClock.now
            // The kernel takes them until the server does.
            var others: [RawConnection] = []
            for _ in 0..<260 { others.append(try RawConnection(port: port)) }
            try await eventually("the line of the log") { server.error.contains("connections cannot be accepted") }
            for _ in 0..<20 { #expect(try await isServed()) }
            // Whatever was free for a moment is taken, so that the next attempts fail at once.
            for _ in 0..<20 { others.append(try RawConnection(port: port)) }
            try await Task.sleep(for: .seconds(3))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            others = []
            let address = "http://127.0.0.1:\(try #require(server.adminPort))/metrics"
            let metrics = try await exchange("GET", address).body
            let failures = try #require(metrics.firstMatch(of: /humon_http_accept_failures_total (\d+)/).flatMap { Int($0.1) })
            // One a second; without the pause they are thousands.
            #expect((1...Int(seconds) + 2).contains(failures), "\(failures) in \(seconds) s")
            #expect(try await isServed())
            #expect(try await server.stop() == 0)
        }
    }
}

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

    @Test func `a server with few files closes idle connections for new ones, and keeps some files for its operators`()
        async throws
    {
        try await Self.withDirectory { directory, environment in
            let server = try HumonProcess(
                ["-c", "ulimit -n 250; exec \"$0\" serve", HumonProcess.executable.path], in: directory, environment: environment,
                executable: URL(fileURLWithPath: "/bin/sh"))
            let port = try await server.port()
            #expect(server.error.contains("raise the limit"), "\(server.error)")
            func isServed(_ connection: RawConnection) async throws -> Bool {
                try connection.send(Self.read)
                return try await connection.receive(until: { $0.hasSuffix("}") }).text.contains("200 OK")
            }
            let kept = try RawConnection(port: port)
            #expect(try await isServed(kept))
            // The kernel takes them until the server does.
            var others: [RawConnection] = []
            for _ in 0..<280 { others.append(try RawConnection(port: port)) }
            #expect(try await kept.receive().isEnded)
            for _ in 0..<20 { #expect(try await isServed(RawConnection(port: port))) }
            let address = "http://127.0.0.1:\(try #require(server.adminPort))/metrics"
            let metrics = try await exchange("GET", address).body
            #expect(metrics.contains("\nhumon_http_accept_failures_total 0\n"))
            #expect(metrics.contains("\nhumon_http_connections_limit 125\n"))
            others = []
            #expect(try await isServed(RawConnection(port: port)))
            #expect(try await server.stop() == 0)
        }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `Signals to a running server` {
    @Test func `SIGHUP changes nothing without a terminal, and the log says what to do`() async throws {
        try await HumonProcess.withServer { server, port, _ in
            server.send(SIGHUP)
            try await eventually("the line of the log") { server.error.contains("SIGHUP changes nothing: restart the server") }
            #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health").status == 200)
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `SIGUSR1 and SIGUSR2 do not end a server`() async throws {
        try await HumonProcess.withServer { server, port, _ in
            server.send(SIGUSR1)
            server.send(SIGUSR2)
            let health = try await exchange("GET", "http://127.0.0.1:\(port)/health")
            #expect(health.status == 200)
            let status = try await server.stop()
            #expect(status == 0)
        }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `Signals to a running server` {
    @Test func `SIGUSR1, SIGUSR2 and SIGHUP without a terminal change nothing, and the log says what to do`() async throws {
        try await HumonProcess.withServer { server, port, _ in
            for signal in [SIGUSR1, SIGUSR2, SIGHUP] { server.send(signal) }
            try await eventually("the line of the log") { server.error.contains("SIGHUP changes nothing: restart the server") }
            #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health").status == 200)
            #expect(try await server.stop() == 0)
        }
    }
}

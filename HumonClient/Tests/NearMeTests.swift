import Foundation
import TestDatabase
import TestServer
import Testing

@testable import HumonClient

@Suite struct `The example near-me` {
    private static let executable = HumonProcess.executable.deletingLastPathComponent().appending(path: "near-me")

    @Test func `near-me shows the events of the next days near a place, and follows them`() async throws {
        try await HumonProcess.withServer { _, port, _ in
            let server = "http://127.0.0.1:\(port)"
            let humon = HumonAPI(
                server: try #require(URL(string: server)), appSecret: HumonProcess.secret, tokens: MemoryTokenStore())
            try await humon.signUp()
            func draft(_ name: String, latitude: Double, days: Double = 1) -> EventDraft {
                EventDraft(
                    name: name, coordinate: Coordinate(latitude: latitude, longitude: -122.43),
                    startedAt: .now + days * 86_400)
            }
            let chess = try await humon.create(draft("Chess", latitude: 37.77))
            _ = try await humon.create(draft("Far", latitude: 40))
            _ = try await humon.create(draft("Late", latitude: 37.77, days: 30))

            let directory = FileManager.default.temporaryDirectory.appending(path: "near-me-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let example = try HumonProcess(
                ["37.76", "-122.43", "2.5", server], in: directory, executable: Self.executable)
            defer { example.send(SIGKILL) }
            func wait(for line: String) async throws {
                try await eventually("\(line) in \(example.output)") { example.output.contains(line) }
            }
            try await wait(for: "1 events within 2.5 km in the next seven days:\n   1.1 km  ")
            try await humon.change(chess, EventPatch(name: "Tea"))
            try await wait(for: "\n~   1.1 km  ")
            _ = try await humon.create(draft("Run", latitude: 37.76))
            try await wait(for: "\n+   0.0 km  ")
            try await humon.cancel(chess)
            try await wait(for: "\n-   1.1 km  ")
            #expect(!example.output.contains("Far") && !example.output.contains("Late"))
            #expect(example.error == "")
        }
    }

    @Test func `an unusable command line gets the usage`() async throws {
        try await HumonProcess.withDirectory { directory in
            for arguments in [[], ["1"], ["1", "x"], ["1", "2", "3", "http://localhost", "more"]] {
                let result = try await HumonProcess.run(arguments, in: directory, executable: Self.executable)
                #expect(result.status == 64 && result.error.hasPrefix("Usage: near-me "), "\(arguments)")
            }
        }
    }

    @Test func `a server that is away is visible, and near-me goes on`() async throws {
        try await HumonProcess.withDirectory { directory in
            let relay = try Relay(to: nil)
            defer { relay.stop() }
            let example = try HumonProcess(
                ["1", "2", "http://127.0.0.1:\(relay.port)"], in: directory, executable: Self.executable)
            defer { example.send(SIGKILL) }
            try await eventually("a message") { example.error.hasPrefix("offline: The server gave no response") }
            let count = relay.requests.count
            try await eventually("another attempt") { relay.requests.count > count }
        }
    }
}

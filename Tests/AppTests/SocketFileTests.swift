import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The file of a Unix socket` {
    private static func withDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-socket-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    @Test func `the first server owns the file before it listens, and the next one after its end`() throws {
        try Self.withDirectory { directory in
            let path = directory.appending(path: "humon.sock").path
            do {
                let first = try SocketFile(path: path, mode: 0o660)
                let error = #expect(throws: SocketFile.Failure.self) { _ = try SocketFile(path: path, mode: 0o660) }
                #expect(error?.description == "Another program listens on HUMON_SOCKET (\(path)).")
                withExtendedLifetime(first) {}
            }
            _ = try SocketFile(path: path, mode: 0o660)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test func `a lock of a killed server does not block the next one, and a lock that is a link is refused`() throws {
        try Self.withDirectory { directory in
            let path = directory.appending(path: "humon.sock").path
            try "".write(toFile: path + ".lock", atomically: false, encoding: .utf8)
            _ = try SocketFile(path: path, mode: 0o660)
            try FileManager.default.createSymbolicLink(
                atPath: path + ".lock", withDestinationPath: directory.appending(path: "elsewhere").path)
            #expect(throws: SocketLock.Unusable.self) { _ = try SocketFile(path: path, mode: 0o660) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["humon.sock.lock"])
        }
    }

    @Test func `one of two simultaneous servers gets the file, and the other one explains its end`() async throws {
        try await TestDatabase.with(migrated: true) { database in
            try await HumonProcess.withDirectory { directory in
                let path = directory.appending(path: "humon.sock").path
                let environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_SOCKET": path]
                for _ in 0..<3 {
                    let servers = try (0..<2).map { _ in try HumonProcess(["serve"], in: directory, environment: environment) }
                    let sentence = "Another program listens on HUMON_SOCKET (\(path))."
                    func isSettled() -> Bool {
                        servers.contains { $0.error.contains(sentence) } && servers.contains { $0.output.contains("curl") }
                    }
                    try await eventually("one server that serves, and one that explains its end") { isSettled() }
                    let client = try RawConnection(path: path)
                    try client.send("GET /v1/events/nearests?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\n\r\n")
                    #expect(try await client.receive(until: { $0.hasSuffix("}") }).text.contains("200 OK"))
                    var statuses: [Int32] = []
                    for server in servers { statuses.append(try await server.stop()) }
                    #expect(statuses.sorted() == [0, 1])
                    #expect(!FileManager.default.fileExists(atPath: path))
                    #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
                }
            }
        }
    }
}

import Encoding
import Foundation
import NIOHTTP1
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `The erasures of HUMON_ERASURES` {
    @Test func `a server on a restored log answers nothing until the erased person is erased again`() async throws {
        try await TestDatabase.withTwo(migrated: false) { database, other in
            try await HumonProcess.withDirectory { directory in
                let list = directory.appending(path: "erasures").path
                let before = ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_ERASURES": list]
                let after = before.merging(["DATABASE_URL": other.url]) { $1 }
                func humon(_ environment: [String: String], _ arguments: String...) async throws {
                    try await HumonProcess.run(arguments, in: directory, environment: environment).succeeded()
                }
                let token = ("tb-device-token", "person")
                try await HumonProcess.withServer(in: directory, environment: before) { _, port in
                    let base = "http://127.0.0.1:\(port)/v1"
                    _ = try await exchange("POST", base + "/users", headers: [("tb-app-secret", HumonProcess.secret), token])
                    let created = try await exchange(
                        "POST", base + "/events", headers: [token, ("content-type", "application/json")],
                        body: #"{"name":"Zyzzyva","lat":1,"lon":2,"started_at":"2030-09-16T00:00:00.000Z"}"#)
                    #expect(created.status == 200, "\(created.body)")
                    try await humon(before, "log", "export", "backup.zst")
                    try await humon(before, "users", "erase", "1", "--yes")
                    // The command runs anywhere, so the server writes the line.
                    try await eventually("the line") {
                        try String(contentsOfFile: list, encoding: .utf8).contains(#""person":"user-1""#)
                    }
                }
                let lines = try String(contentsOfFile: list, encoding: .utf8)
                #expect(!lines.contains("Zyzzyva"), "\(lines)")

                // The list is the server's to apply.
                try await humon(after, "log", "import", "backup.zst", "--yes")
                // One connection, so that the session keeps the lock.
                try await other.withClient(connections: 1) { client async throws in
                    // Another node leads the subscription and does nothing, so no erasure ends.
                    try await client.query("SELECT pg_advisory_lock(x'68756d73'::integer, hashtext('erasures'))")
                    try await HumonProcess.withServer(in: directory, environment: after) { _, port in
                        let base = "http://127.0.0.1:\(port)"
                        for path in ["/v1/events/1", "/v1/users/me", "/v1/events/nearests?lat=1&lon=2", "/", "/docs"] {
                            let refused = try await exchange("GET", base + path, headers: [token], attempts: 1)
                            #expect((refused.status, refused.headers["retry-after"]) == (503, ["1"]), "\(path)")
                        }
                        let health = try await exchange("GET", base + "/health", attempts: 1)
                        #expect(health.status == 503 && health.body.contains(#""status":"unavailable""#), "\(health.body)")
                        #expect(try await exchange("GET", base + "/health/live", attempts: 1).status == 200)

                        try await client.query("SELECT pg_advisory_unlock_all()")
                        #expect(try await exchange("GET", base + "/v1/events/1").status == 404)
                        #expect(try await exchange("GET", base + "/v1/users/me", headers: [token]).status == 401)
                        #expect(try await exchange("GET", base + "/health").status == 200)
                    }
                    let words = try await client.query("SELECT FROM log.recorded_events WHERE personal::text <> '{}'")
                    #expect(words.isEmpty)
                }
                #expect(try String(contentsOfFile: list, encoding: .utf8) == lines)
            }
        }
    }

    @Test(.emptyDatabase, .directory) func `the doctor compares the list with the log, and changes nothing`() async throws {
        let list = directory.appending(path: "erasures").path
        let settings = environment.merging(["HUMON_ERASURES": list]) { $1 }
        func check() async throws -> (state: JSON, result: JSON) {
            let result = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: settings)
            let lines = try result.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
            let line = lines.first { $0["check"] == "erasures file" } ?? .null
            return (line["state"] ?? .null, line["result"] ?? .null)
        }
        try FileManager.default.createDirectory(atPath: list, withIntermediateDirectories: false)
        // Before anything changes.
        let refused = try await HumonProcess.run(["serve"], in: directory, environment: settings)
        #expect(refused.status == 1 && refused.error.contains("Cannot use the erasure list \(list): "), "\(refused.error)")
        let isMigrated = try await database.withClient { client in
            try await client.query("SELECT to_regclass('log.recorded_events') IS NOT NULL").decode(Bool.self)
        }
        #expect(isMigrated == [false])

        try await HumonProcess.run(["demo", "--events", "5"], in: directory, environment: environment).succeeded()
        #expect(try await check().state == "bad")
        try FileManager.default.removeItem(atPath: list)
        #expect(try await check() == ("ok", "lines of this log: 0"))
        try await HumonProcess.run(["users", "erase", "1", "--yes"], in: directory, environment: settings).succeeded()
        #expect(try await check() == ("warn", "lines of this log: 0; erasures without a line: 1"))
        #expect(!FileManager.default.fileExists(atPath: list))
        try await HumonProcess.withServer(in: directory, environment: settings) { _, _ in
            try await eventually("the line") { try await check() == ("ok", "lines of this log: 1") }
        }
        let damaged = try String(contentsOfFile: list, encoding: .utf8) + "tea\n"
        try damaged.write(toFile: list, atomically: true, encoding: .utf8)
        #expect(try await check() == ("warn", "lines of this log: 1; lines that cannot be read: 1"))
        #expect(try String(contentsOfFile: list, encoding: .utf8) == damaged)
        let id = UUID()
        let foreign = #"{"log":"\#(id)","person":"user-1","created":"\#(id)","erased":"\#(id)","at":"2026-01-01T00:00:00Z"}"#
        try (foreign + "\n").write(toFile: list, atomically: true, encoding: .utf8)
        #expect(try await check() == ("warn", "lines: 1, and none of this log"))
    }
}

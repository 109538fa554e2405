import Encoding
import EventStore
import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `humon users export` {
    @Test func `the command prints everything of a user as one JSON object, also beside a server`() async throws {
        try await HumonProcess.withServer { _, port, database in
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(
                    ["users", "export"] + arguments, in: FileManager.default.temporaryDirectory,
                    environment: ["DATABASE_URL": database.url])
            }
            let base = "http://127.0.0.1:\(port)/v1"
            _ = try await exchange(
                "POST", base + "/users", headers: [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "person")])
            let event = #"{"name":"Zyzzyva","lat":1,"lon":2,"started_at":"2030-09-16T00:00:00.000Z"}"#
            let created = try await exchange(
                "POST", base + "/events", headers: [("tb-device-token", "person"), ("content-type", "application/json")],
                body: event)
            #expect(created.status == 200)

            let export = try await humon("1")
            #expect(export.status == 0, "\(export.error)")
            let document = try JSON(utf8: export.output.utf8)
            #expect(document["user"] == JSON(1))
            guard case .array(let events)? = document["recorded_events"] else { throw FormatError(export.output) }
            #expect(events.map { $0["type"]?.storedString } == ["UserCreated", "EventCreated"])
            #expect(events.last?["data"]?["name"] == "Zyzzyva")

            let unknown = try await humon("7")
            #expect((unknown.status, unknown.output, unknown.error) == (2, "", "No user has the id 7.\n"))
            #expect(try await humon("0").status == 64)
        }
    }
}

import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

/// `Tests/Fixtures` holds a database of an older program. Every later program must migrate it and continue it.
@Suite struct `A database of an older humon` {
    /// All that is recorded. The present program stores personal members apart, under a salt.
    private static let contents: SQL = """
        SELECT concat_ws('|', position, id, stream, version, type, format, recorded_at,
            data::jsonb || CASE jsonb_typeof(to_jsonb(r) -> 'personal')
                WHEN 'object' THEN (to_jsonb(r) -> 'personal') - 'salt' ELSE '{}' END,
            metadata::text) AS row
        FROM log.recorded_events AS r WHERE position <= 57 ORDER BY position
        """
    /// The recorded events with words among their facts.
    private static let together: SQL = """
        SELECT position FROM log.recorded_events
        WHERE data::jsonb ?| ARRAY['name', 'address', 'lat', 'lon', 'device', 'reason', 'email', 'title']
        """
    private static let commands: SQL = """
        SELECT concat_ws('|', id, encode(fingerprint, 'hex'), stream, version) AS row FROM log.commands
        WHERE (stream, version) IN (SELECT stream, version FROM log.recorded_events WHERE position <= 57) ORDER BY id
        """
    private static let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#

    private static func send(_ method: String, _ url: String, by device: String, key: String? = nil, _ body: String = "")
        async throws -> (status: Int, body: String)
    {
        var headers = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", device), ("content-type", "application/json")]
        if let key { headers.append(("idempotency-key", key)) }
        let answer = try await exchange(method, url, headers: headers, body: body)
        return (answer.status, answer.body)
    }

    @Test func `an old database is migrated, served and extended, and keeps all that it recorded`() async throws {
        try await HumonProcess.withDatabase { database, directory, environment in
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(arguments, in: directory, environment: environment)
            }
            let fixture = try Repository.text("Tests/Fixtures/0007-database.sql")
            let (recorded, commands) = try await database.withClient(connections: 1) { client in
                try await client.withConnection { try await $0.execute(script: fixture) }
                // The session of the dump has no search path.
                let migrations = try await client.query("SELECT name::text FROM humon.migrations ORDER BY name")
                    .decode(String.self)
                #expect(migrations.filter { $0 != "grants" }.count == 7 && migrations.first == "0001_log")
                return try await (
                    client.query(Self.contents).decode(String.self), client.query(Self.commands).decode(String.self)
                )
            }
            #expect(recorded.count == 57)
            #expect(commands.count == 6)

            let migrated = try await humon("migrate")
            #expect(migrated.status == 0, "\(migrated.error)")
            #expect(try await humon("migrate", "--check").status == 0)
            let together = try await database.withClient { try await $0.query(Self.together).decode(Int64.self) }
            #expect(together == [])
            let verified = try await humon("log", "verify")
            #expect(verified.status == 0, "\(verified.output)\(verified.error)")

            try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
                try await Self.use("http://127.0.0.1:\(port)/v1")
            }

            for arguments in [["log", "verify"], ["projections", "verify", "--all"]] {
                let result = try await HumonProcess.run(arguments, in: directory, environment: environment)
                #expect(result.status == 0, "\(arguments): \(result.output)\(result.error)")
            }
            let parked = try await humon("subscriptions", "parked", "newsletter")
            #expect(parked.output.contains("no such address"), "\(parked.error)")
            let (recordedAfter, commandsAfter) = try await database.withClient { client in
                try await (client.query(Self.contents).decode(String.self), client.query(Self.commands).decode(String.self))
            }
            #expect(recordedAfter == recorded)
            #expect(commandsAfter == commands)
        }
    }

    private static func use(_ base: String) async throws {
        let answers = try Repository.text("Tests/Fixtures/0007-answers.jsonl").split(separator: "\n")
        #expect(answers.count == 12)
        for (id, answer) in zip(1..., answers) {
            let shown = try await send("GET", base + "/events/\(id)", by: "nobody")
            #expect((shown.status, shown.body) == (200, String(answer)))
        }
        // A device identifies a user, and a key identifies a command.
        let known = try await send("POST", base + "/users", by: "device-4")
        #expect(known.body == #"{"id":4,"device_token":"device-4","auth_token":"device-4"}"#)
        let change = #"{"name":"Moved gathering 5","lat":5.5,"lon":5.75,"started_at":"2014-01-01T00:00:00Z"}"#
        let repeated = try await send("PATCH", base + "/events/5", by: "device-3", key: "change-5", change)
        #expect((repeated.status, repeated.body) == (200, #"{"id":5}"#))
        let reused = try await send("PATCH", base + "/events/5", by: "device-3", key: "change-5", party)
        #expect(reused.status == 422)
        let attended = try await send("POST", base + "/attendances", by: "device-1", #"{"event":{"id":12}}"#)
        #expect((attended.status, attended.body) == (200, "{}"))
        // The next numbers are larger than every number in use.
        let created = try await send("POST", base + "/events", by: "device-2", party)
        #expect(try #require(created.body.firstMatch(of: /"id":(\d+)/).flatMap { Int($0.1) }) > 12)
        let signedUp = try await send("POST", base + "/users", by: "device-6")
        #expect(try #require(signedUp.body.firstMatch(of: /"id":(\d+)/).flatMap { Int($0.1) }) > 5)
        #expect(try await send("PATCH", base + "/events/2", by: "device-3", party).status == 200)
    }
}

import App
import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `The doctor` {
    /// The lines of a report, by the names of their checks.
    private static func screen(_ directory: URL, _ environment: [String: String]) async throws -> (
        status: Int32, lines: [String: JSON]
    ) {
        let result = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: environment)
        let lines = try result.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
        let named = lines.map { ($0["check"].map { $0.word } ?? "", $0) }
        return (result.status, Dictionary(uniqueKeysWithValues: named))
    }

    private static let names =
        [
            "settings", "database", "durability", "migrations", "grants", "disk", "wal archive", "log", "log lock", "formats",
            "sequences",
        ]
        + StoredModule.all.projections.map { "read model \(type(of: $0).name)" }
        + ["index", "subscriptions", "erasures file", "clock"]

    /// A defect: the script that causes it, the check that reports it, the result and hint of that check, and the cure.
    private struct Ailment {
        var script: String
        var check: String
        var state = "bad"
        var result: String
        var hint: String
        var cure: String
    }

    private static let ailments = [
        Ailment(
            script: "ALTER TABLE log.recorded_events ENABLE TRIGGER refuse_change", check: "grants",
            result: "the trigger refuse_change of log.recorded_events is not on",
            hint: "ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;",
            cure: "ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change"),
        Ailment(
            script: "ALTER SCHEMA events_v1 RENAME TO mislaid", check: "read model events", result: "is missing",
            hint: "Run humon projections rebuild --all. humon serve builds it, too, when it starts.",
            cure: "ALTER SCHEMA mislaid RENAME TO events_v1"),
        Ailment(
            script:
                "SELECT log.leave_inline(ARRAY['users_v1']); UPDATE log.read_models SET position = position + 7 WHERE schema = 'users_v1'",
            check: "read model users",
            result: "but the log ends before it",
            hint: "Restore the log, or, if it is as it should be, run humon projections rebuild --all.",
            cure: "UPDATE log.read_models SET position = position - 7 WHERE schema = 'users_v1'"),
        Ailment(
            script:
                "SELECT log.leave_inline(ARRAY['attendances_v1']); UPDATE log.read_models SET position = position - 3 WHERE schema = 'attendances_v1'",
            check: "read model attendances", state: "warn",
            result: "3 recorded events behind the log",
            hint: "A server of this version updates it; check that one runs.",
            cure: "UPDATE log.read_models SET position = position + 3 WHERE schema = 'attendances_v1'"),
        Ailment(
            // A busy server takes more numbers than it uses.
            script: "SELECT setval('log.event_ids', 3)", check: "sequences", result: "log.event_ids is at 3, but event-",
            hint: "SELECT setval('log.event_ids', ", cure: "SELECT setval('log.event_ids', 100000)"),
        Ailment(
            script: "INSERT INTO humon.migrations VALUES ('0002_tea', repeat('a', 64))", check: "migrations",
            result: "this program does not know it", hint: "Run the version of humon that this database belongs to.",
            cure: "DELETE FROM humon.migrations WHERE name = '0002_tea'"),
        Ailment(
            script: "UPDATE humon.migrations SET checksum = reverse(checksum) WHERE name LIKE 'functions%'", check: "migrations",
            result: "missing: functions", hint: "Run humon migrate.",
            cure: "UPDATE humon.migrations SET checksum = reverse(checksum) WHERE name LIKE 'functions%'"),
        Ailment(
            script: "INSERT INTO log.subscriptions VALUES ('feed', 0)", check: "subscriptions", state: "warn",
            result: "positions behind and has no leader", hint: "Check that a server with this subscription runs.",
            cure: "DELETE FROM log.subscriptions WHERE name = 'feed'"),
        Ailment(
            script: "INSERT INTO log.subscriptions VALUES ('feed', 0, 'a lock was not free')", check: "subscriptions",
            state: "warn", result: "positions behind, interrupted: a lock was not free",
            hint: "Remove the cause; a server tries again by itself.",
            cure: "DELETE FROM log.subscriptions WHERE name = 'feed'"),
        Ailment(
            script:
                "INSERT INTO log.subscriptions VALUES ('feed', 0); INSERT INTO log.parked_streams VALUES ('feed', 'event-1', 1, 2, 'thirteen')",
            check: "subscriptions", result: "1 parked by feed",
            hint: "See humon subscriptions parked feed; mend the cause, then humon subscriptions retry feed.",
            cure: "DELETE FROM log.parked_streams; DELETE FROM log.subscriptions"),
        // The following defects have no cure.
        Ailment(
            script:
                "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change; DELETE FROM log.recorded_events WHERE position = 7",
            check: "log", result: "position 7 is missing",
            hint: "Run humon log verify, which looks at all of it; restore from a backup what is lost.",
            cure: "SELECT 1"),
        Ailment(
            script: "DROP SCHEMA humon CASCADE; DROP SCHEMA log CASCADE", check: "grants",
            result: "log.recorded_events is missing",
            hint: "Run humon migrate.", cure: "SELECT 1"),
    ]

    @Test(.emptyDatabase, .directory)
    func `a sound database has no bad check, and each defect gives a bad check with a hint`() async throws {
        try await HumonProcess.run(["demo", "--events", "20"], in: directory, environment: environment).succeeded()
        let (status, lines) = try await Self.screen(directory, environment)
        #expect(status == 0)
        #expect(Set(lines.keys) == Set(Self.names))
        // The cluster of the tests runs without fsync, a query on a busy machine may be slow, and there is no erasure list. All are
        // only warnings.
        for (name, line) in lines where !["database", "durability", "erasures file"].contains(name) {
            #expect(line["state"] == "ok", "\(line.text)")
        }
        #expect(lines["database"]?["state"] != "bad", "\(lines)")
        #expect(lines["durability"]?["state"] == "warn")
        #expect(lines["erasures file"]?["state"] == "warn")
        #expect(lines["erasures file"]?.text.contains("HUMON_ERASURES is not set") == true)
        #expect(lines["durability"]?.text.contains("fsync") == true)

        try await database.withClient(connections: 1) { client in
            for ailment in Self.ailments {
                try await client.withConnection { try await $0.execute(script: ailment.script) }
                let (status, lines) = try await Self.screen(directory, environment)
                #expect(status == (ailment.state == "bad" ? 2 : 0), "\(ailment.script)")
                let line = lines[ailment.check] ?? .null
                #expect(line["state"] == .string(ailment.state), "\(ailment.script): \(line.text)")
                #expect(line["result"]?.word.contains(ailment.result) == true, "\(ailment.script): \(line.text)")
                #expect(line["hint"]?.word.contains(ailment.hint) == true, "\(ailment.script): \(line.text)")
                // Every report has the same lines.
                #expect(Set(lines.keys) == Set(Self.names), "\(ailment.script)")
                try await client.withConnection { try await $0.execute(script: ailment.cure) }
            }
        }
    }

    private static func withTwo(_ body: (TestDatabase, TestDatabase, URL) async throws -> Void) async throws {
        try await TestDatabase.withTwo(migrated: false) { one, two in
            try await HumonProcess.withDirectory { directory in try await body(one, two, directory) }
        }
    }

    @Test func `the doctor compares the index of a running server with the read model`() async throws {
        try await Self.withTwo { database, another, directory in
            var environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret]
            try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
                environment["HUMON_ADMIN_PORT"] = "\(try #require(server.adminPort))"
                try await HumonProcess.run(["demo", "--events", "20"], in: directory, environment: environment).succeeded()
                let (status, lines) = try await Self.screen(directory, environment)
                #expect((status, lines["index"]?["state"]) == (0, "ok"))
                #expect(lines["index"]?.text.contains("holds all 20 events as the read model has them at position") == true)

                let restored = environment.merging(["DATABASE_URL": another.url]) { $1 }
                try await HumonProcess.run(["demo", "--events", "20"], in: directory, environment: restored).succeeded()
                let (elsewhere, foreign) = try await Self.screen(directory, restored)
                #expect((elsewhere, foreign["index"]?["state"]) == (0, "warn"))
                #expect(foreign["index"]?.text.contains("has another log") == true)

                // The read model is now wrong and the index is right, so they differ.
                _ = try await database.withClient {
                    try await $0.query("UPDATE events_v1.events SET name = 'x' WHERE id = 7")
                }
                let (again, differing) = try await Self.screen(directory, environment)
                #expect((again, differing["index"]?["state"]) == (2, "bad"))
                #expect(differing["index"]?.text.contains("in 1 events at position") == true)
                #expect(differing["index"]?.text.contains("Run humon projections verify events.") == true)

                environment["HUMON_ADMIN_PORT"] = "\(port)"
                let (_, other) = try await Self.screen(directory, environment)
                #expect(other["index"]?["state"] == "bad", "\(other)")
            }
            let (_, gone) = try await Self.screen(directory, environment)
            #expect(gone["index"]?["state"] == "ok")
            #expect(gone["index"]?.text.contains("no server answers") == true)
        }
    }

    @Test(.directory) func `an archive that takes no WAL is bad, and the segment is named`() async throws {
        let postgres = try await TestPostgres(
            in: directory.appending(path: "postgres").path,
            settings: TestPostgres.unsafeSettings.merging(["archive_mode": "on", "archive_command": "false"]) { $1 })
        defer { postgres.remove() }
        let environment = ["DATABASE_URL": postgres.url(), "TB_APP_SECRET": HumonProcess.secret]
        try await HumonProcess.run(["migrate"], in: directory, environment: environment).succeeded()
        try await postgres.administer { client in
            try await client.query("SELECT pg_switch_wal()")
            try await eventually("an attempt to archive") {
                try await client.query("SELECT failed_count > 0 FROM pg_stat_archiver").decode(Bool.self)[0]
            }
        }
        let (status, lines) = try await Self.screen(directory, environment)
        #expect((status, lines["wal archive"]?["state"]) == (2, "bad"))
        let result = lines["wal archive"]?["result"]?.word ?? ""
        #expect(result.contains(/^nothing was ever archived; failures: \d, the last with [0-9A-F]{24}$/), "\(result)")
    }

    @Test(.emptyDatabase, .directory) func `the doctor needs only the reading role`() async throws {
        try await HumonProcess.run(["demo", "--events", "5"], on: database).succeeded()
        let login = "operator_\(UUID().uuidString.prefix(8).lowercased())"
        try await database.withClient { client in
            _ = try await client.run([
                "CREATE ROLE \(identifier: login) LOGIN", "GRANT log_reader TO \(identifier: login)",
            ])
        }
        let environment = ["DATABASE_URL": "\(database.url) user=\(login)", "TB_APP_SECRET": HumonProcess.secret]
        let result = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
        try await database.withClient { client in
            _ = try await client.run(["DROP OWNED BY \(identifier: login)", "DROP ROLE \(identifier: login)"])
        }
        #expect(result.status == 0, "\(result.output)")
        #expect(
            result.output.contains(
                /\ndurability +Set fsync, full_page_writes = on in PostgreSQL's configuration, and reload it.\n/))
        #expect(result.output.contains(/read model events +ok +version \d+, in step with the log\n/))
    }

    @Test(.emptyDatabase, .directory)
    func `the doctor prints every check without a database, without migrations and without usable settings`() async throws {
        let away = try await Self.screen(
            directory, ["DATABASE_URL": "postgres://humon@127.0.0.1:1/humon", "TB_APP_SECRET": HumonProcess.secret])
        #expect(away.status == 2)
        #expect(Set(away.lines.keys) == Set(Self.names))
        #expect(away.lines["settings"]?["state"] == "ok")
        #expect(away.lines["database"]?["state"] == "bad")
        #expect(away.lines["clock"]?["result"] == "not checked: no database was reached")

        let none = try await Self.screen(directory, ["TB_APP_SECRET": HumonProcess.secret])
        #expect(none.lines["database"]?["result"]?.word.contains("has no database yet") == true)

        try FileManager.default.createDirectory(at: directory.appending(path: "data"), withIntermediateDirectories: false)
        let empty = try await Self.screen(directory, ["TB_APP_SECRET": HumonProcess.secret])
        #expect(empty.lines["disk"]?["result"]?.word.contains("the size of the database is unknown") == true)

        let unusable = try await Self.screen(directory, ["HUMON_PORT": "tea"])
        #expect(unusable.lines["settings"]?["result"] == "HUMON_PORT must be a whole number from 0 to 65535.")
        #expect(Set(unusable.lines.keys) == Set(Self.names))

        let misspelt = try await Self.screen(directory, ["DATABASE_URL": database.url, "HUMON_PROT": "1"])
        #expect(misspelt.status == 2)
        #expect(misspelt.lines["settings"]?["result"]?.word.contains("HUMON_PROT is not a setting") == true)
        #expect(misspelt.lines["database"]?["state"] == "ok")
        #expect(misspelt.lines["migrations"]?["hint"] == "Run humon migrate.")
        #expect(misspelt.lines["log"]?["state"] == "bad")
    }
}

extension JSON {
    var word: String { if case .string(let text) = self { text } else { "" } }
}

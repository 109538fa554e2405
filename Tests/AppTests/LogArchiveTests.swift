import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `humon log export` {
    /// A digest of all data that must survive.
    private static let contents: SQL = """
        SELECT md5(string_agg(row, ';' ORDER BY row)) FROM (
            SELECT concat_ws('|', position, id, stream, version, type, format, recorded_at, data::text, metadata::text,
                coalesce(personal::text, '-')) AS row
            FROM log.recorded_events
            UNION ALL SELECT concat_ws('|', 'command', position, id, request_hash, stream, version) FROM log.commands
        ) AS rows
        """

    private static func contents(_ database: TestDatabase) async throws -> String? {
        try await database.withClient { client in try await client.query(contents).decode(String?.self)[0] }
    }

    @Test func `an export is a private file, and its import gives the same log`() async throws {
        try await TestDatabase.withTwo(migrated: false) { database, other in
            try await HumonProcess.withDirectory { directory in
                let (here, there) = (["DATABASE_URL": database.url], ["DATABASE_URL": other.url])
                func humon(_ environment: [String: String], _ arguments: String...) async throws -> HumonProcess.Result {
                    try await HumonProcess.run(arguments, in: directory, environment: environment)
                }
                _ = try await humon(here, "demo", "--events", "50")
                try await humon(here, "log", "export", "log.zst").succeeded()
                let file = directory.appending(path: "log.zst")
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)

                let again = try await humon(here, "log", "export", "log.zst")
                #expect((again.status, again.error.contains("--force")) == (1, true))
                try await humon(here, "log", "export", "--force", "log.zst").succeeded()
                let rest = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
                    $0.hasSuffix(".part")
                }
                #expect(rest.isEmpty)

                let good = try Data(contentsOf: file)
                let without = try await humon(there, "log", "import", "log.zst")
                #expect(without.status == 2 && without.error.contains("Nothing was changed."), "\(without.error)")
                let unmigrated = try await humon(there, "log", "import", "log.zst", "--dry-run")
                #expect(unmigrated.status == 1 && unmigrated.error.contains("run humon migrate"), "\(unmigrated.error)")
                #expect(try await humon(there, "migrate").status == 0)
                let sequences: SQL = "SELECT last_value FROM log.user_ids UNION ALL SELECT last_value FROM log.event_ids"
                let before = try await other.withClient { try await $0.query(sequences).decode(Int64.self) }
                let trial = try await humon(there, "log", "import", "log.zst", "--dry-run")
                #expect(trial.status == 0 && trial.output.contains("recorded"), "\(trial.error)")
                #expect(trial.error.hasSuffix("The archive is sound. Nothing was imported.\n"), "\(trial.error)")
                var damaged = good
                damaged[damaged.count / 2] ^= 0x10
                for (name, bytes, consent) in [
                    ("half", good.prefix(good.count / 2), "--yes"), ("text", Data("tea\n".utf8), "--yes"),
                    ("damaged", damaged, "--dry-run"),
                ] {
                    try bytes.write(to: directory.appending(path: name))
                    let refused = try await humon(there, "log", "import", consent, name)
                    #expect(refused.status == 1, "\(name)")
                    let isSaid = refused.error.contains("Nothing was imported.")
                    #expect(isSaid || consent == "--dry-run", "\(name): \(refused.error)")
                }
                #expect(try await Self.contents(other) == nil)
                let after = try await other.withClient { try await $0.query(sequences).decode(Int64.self) }
                #expect(after == before)

                try await humon(there, "log", "import", "--yes", "log.zst").succeeded()
                #expect(try await Self.contents(other) == Self.contents(database))
                try await humon(there, "log", "verify").succeeded()
                // On the imported log the service starts, and the sequences continue.
                try await humon(there, "demo", "--events", "5").succeeded()
                let second = try await humon(there, "log", "import", "--yes", "log.zst")
                #expect((second.status, second.error.contains("is not empty")) == (1, true))
            }
        }
    }

    @Test(.emptyDatabase, .directory) func `an export goes through a pipe into a new cluster`() async throws {
        let environment = ["DATABASE_URL": database.url]
        _ = try await HumonProcess.run(["demo", "--events", "10"], in: directory, environment: environment)
        let humon = HumonProcess.executable.path
        let script = """
            '\(humon)' log export - | env -u DATABASE_URL '\(humon)' log import --yes --json -
            env -u DATABASE_URL '\(humon)' log verify > verified || exit 9
            ('\(humon)' log export - || echo "failed: $?" >&2) | head -c 0
            """
        let result = try await HumonProcess.run(
            ["-c", script], in: directory, environment: environment, executable: URL(fileURLWithPath: "/bin/sh"))
        #expect(result.status == 0, "\(result.error)")
        #expect(!result.error.contains("failed"), "\(result.error)")
        let figures = try #require(
            result.output.wholeMatch(
                of: /\{"recorded":(\d\d),"commands":0,"seconds":([^,]+),"events_a_second":([^,]+)\}\n/), "\(result.output)")
        let (recorded, seconds) = (try #require(Double(figures.1)), try #require(Double(figures.2)))
        #expect(recorded > 0 && Double(figures.3) == recorded / seconds)
    }

    @Test(.database, .directory) func `a signal ends an import that waits for input, and keeps the log empty`() async throws {
        let pipe = directory.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let end = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(end) }
        let process = try HumonProcess(
            ["log", "import", "--yes", "pipe"], in: directory, environment: ["DATABASE_URL": database.url])
        try await database.withClient { client in
            // The import holds the lock of the log and waits for the first line.
            let isWaiting: SQL = """
                SELECT count(*) > 0 FROM pg_locks
                WHERE relation = 'log.append_lock'::regclass AND mode = 'ExclusiveLock' AND granted
                """
            try await eventually("the import to hold the log's lock") {
                try await client.query(isWaiting).decode(Bool.self)[0]
            }
        }
        let start = ContinuousClock.now
        process.send(SIGINT)
        let status = try await process.untilExit()
        #expect(status == 130, "\(process.error)")
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(try await Self.contents(database) == nil)
    }
}

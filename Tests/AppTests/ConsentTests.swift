import Encoding
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `A command that deletes data or cannot be undone` {
    private typealias Humon = @Sendable (String...) async throws -> HumonProcess.Result

    /// A database after a rebuild of all read models, so that the old tables exist.
    private static func withRebuilt(
        _ body: @Sendable (TestDatabase, Humon) async throws -> Void
    ) async throws {
        try await HumonProcess.withDatabase { database, directory in
            let humon: Humon = { (arguments: String...) in
                try await HumonProcess.run(arguments, in: directory, environment: ["DATABASE_URL": database.url])
            }
            for arguments in [["demo", "--events", "5"], ["projections", "rebuild", "--all"]] {
                let result = try await HumonProcess.run(
                    arguments, in: directory, environment: ["DATABASE_URL": database.url])
                #expect(result.status == 0, "\(result.error)")
            }
            try await body(database, humon)
        }
    }

    private static func schemas(_ database: TestDatabase) async throws -> [String] {
        try await database.withClient { client in
            try await client.query(
                "SELECT nspname::text || ' ' || oid FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' ORDER BY 1"
            ).decode(String.self)
        }
    }

    @Test func `lists in a dry run of prune what prune drops, and changes nothing without a terminal or --yes`() async throws {
        try await Self.withRebuilt { database, humon in
            let before = try await Self.schemas(database)
            let refused = try await humon("projections", "prune", "--all")
            #expect((refused.status, refused.output) == (2, ""))
            #expect(
                refused.error.hasSuffix("Nothing was changed. To go on without a terminal, give --yes.\n"), "\(refused.error)")
            let trial = try await humon("projections", "prune", "--all", "--dry-run")
            #expect(try await Self.schemas(database) == before)
            let pruned = try await humon("projections", "prune", "--all", "--yes")
            #expect(trial.output.contains("events_v1_previous"))
            #expect(
                trial.output.replacing("would be dropped", with: "dropped").replacing(/\ +/, with: " ")
                    == pruned.output.replacing(/\ +/, with: " "))
            let empty = try await humon("projections", "prune", "--all")
            #expect((empty.status, empty.output) == (0, "There was nothing to drop.\n"))
        }
    }

    @Test func `imports no log without consent, and checks the whole archive in a dry run`() async throws {
        try await TestDatabase.withTwo(migrated: false) { database, other in
            try await HumonProcess.withDirectory { directory in
                func humon(_ url: String, _ arguments: String...) async throws -> HumonProcess.Result {
                    try await HumonProcess.run(arguments, in: directory, environment: ["DATABASE_URL": url])
                }
                for arguments in [["demo", "--events", "5"], ["log", "export", "log.zst"]] {
                    let result = try await HumonProcess.run(
                        arguments, in: directory, environment: ["DATABASE_URL": database.url])
                    #expect(result.status == 0, "\(result.error)")
                }
                let refused = try await humon(other.url, "log", "import", "log.zst")
                #expect(refused.status == 2)
                #expect(refused.error.contains("Nothing was changed."), "\(refused.error)")
                let unmigrated = try await humon(other.url, "log", "import", "log.zst", "--dry-run")
                #expect((unmigrated.status, unmigrated.error.contains("run humon migrate")) == (1, true), "\(unmigrated.error)")

                #expect(try await humon(other.url, "migrate").status == 0)
                let before = try await Self.contents(other)
                let trial = try await humon(other.url, "log", "import", "log.zst", "--dry-run")
                #expect(trial.status == 0, "\(trial.error)")
                #expect(trial.output.contains("recorded"))
                #expect(trial.error.hasSuffix("The archive is sound. Nothing was imported.\n"), "\(trial.error)")
                #expect(try await Self.contents(other) == before)
                var damaged = try Data(contentsOf: directory.appending(path: "log.zst"))
                damaged[damaged.count / 2] ^= 0x10
                try damaged.write(to: directory.appending(path: "damaged"))
                #expect(try await humon(other.url, "log", "import", "damaged", "--dry-run").status == 1)

                let imported = try await humon(other.url, "log", "import", "log.zst", "--yes")
                #expect(imported.status == 0, "\(imported.error)")
                #expect(try await Self.contents(other) != before)
            }
        }
    }

    /// The number of recorded events, and the last value of each sequence.
    private static func contents(_ database: TestDatabase) async throws -> [Int64] {
        try await database.withClient { client in
            try await client.query(
                """
                SELECT count(*) FROM log.recorded_events
                UNION ALL SELECT last_value FROM log.user_ids UNION ALL SELECT last_value FROM log.event_ids
                """
            ).decode(Int64.self)
        }
    }
}

import Foundation
import Postgres
import TestDatabase
import Testing

/// Each check is seen failing on a system that is broken: small runs of the real thing, with one thing made wrong.
@Suite(.serialized) struct `A broken system is found out` {
    private static func checks(
        _ faults: [Fault], commandsPerFault: Int = 12, seed: UInt64 = 5, _ sabotage: Sabotage
    ) async throws -> Set<Check> {
        let schedule = FaultInjectionSchedule(seed: seed, only: faults, commandsPerFault: commandsPerFault)
        let report = try await FaultInjectionRun.run(schedule, isMoving: false, sabotage)
        return Set(report.violations.map(\.check))
    }

    @Test func `when PostgreSQL acknowledges what it has not written`() async throws {
        // Nothing but a checkpoint writes the last of it.
        let settings = ["synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"]
        var found: Set<Check> = []
        // It may happen that something else has just had it written: then it is done again.
        for seed in UInt64(5)..<10 where !found.contains(.acknowledgedOnce) {
            found = try await Self.checks(
                [.killPostgres], commandsPerFault: 20, seed: seed, Sabotage(postgresSettings: settings))
        }
        #expect(found.contains(.acknowledgedOnce))
    }

    @Test func `when positions have holes, which also stop subscriptions and rebuilds`() async throws {
        let sabotage = Sabotage { client in
            let append = try await client.query("SELECT pg_get_functiondef('log.append'::regproc)").decode(String.self)[0]
            let broken = append.replacing("SELECT tail + e.ordinal,", with: "SELECT tail + e.ordinal + 1,")
                .replacing("tail + cardinality(ids)", with: "tail + cardinality(ids) + 1")
                .replacing("RETURN tail + 1", with: "RETURN tail + 2")
            try await client.withConnection { try await $0.execute(script: broken) }
        }
        let found = try await Self.checks([.killServer(0)], sabotage)
        // A memory that comes to a hole is filled anew, again and again, and may be in use when it is asked.
        #expect(found.subtracting([.index]) == [.positions, .readModels, .subscription])
    }

    @Test
    func
        `when a read model misses changes, which memories then do not, the subscription sees some twice, and clients try again with fresh keys`()
        async throws
    {
        let sabotage = Sabotage(client: .freshKeys, subscription: .repeats) { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE FUNCTION faultInjection.keep() RETURNS trigger LANGUAGE plpgsql AS
                            'BEGIN NEW.name = OLD.name; RETURN NEW; END';
                        CREATE TRIGGER keep BEFORE UPDATE ON events_v1.events FOR EACH ROW EXECUTE FUNCTION faultInjection.keep();
                        """)
            }
        }
        let found = try await Self.checks([.cutConnections(.beforeAnswer), .killServer(0), .killServer(1)], sabotage)
        #expect(found.isSuperset(of: [.readModels, .index, .subscription, .acknowledgedOnce]))
    }

    @Test func `when the subscription skips, and clients believe that what was refused was done`() async throws {
        let found = try await Self.checks(
            [.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .believesRefusals, subscription: .skips))
        #expect(found == [.subscription, .acknowledgedOnce])
    }

    @Test func `when what was refused is recorded all the same, and no memory is in use`() async throws {
        let found = try await Self.checks([.replaceSubscription(0)], Sabotage(client: .tellsRefusals, hasIndex: false))
        // On a busy machine such a client also meets answers that it has no place for.
        #expect(found.isSuperset(of: [.refusedNever, .index]) && found.isSubset(of: [.refusedNever, .index, .answers]))
    }

    @Test func `when keys are as good as none`() async throws {
        let found = try await Self.checks([.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .dropsKeys))
        #expect(found.isSuperset(of: [.repetition, .acknowledgedOnce, .answers]))
    }

    @Test func `when every append updates the same row, under a snapshot that is open`() async throws {
        let sabotage = Sabotage { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE FUNCTION faultInjection.touch() RETURNS trigger LANGUAGE plpgsql AS
                            'BEGIN UPDATE log.read_models SET built_at = clock_timestamp(); RETURN NULL; END';
                        CREATE TRIGGER touch AFTER INSERT ON log.recorded_events
                            FOR EACH STATEMENT EXECUTE FUNCTION faultInjection.touch();
                        """)
            }
        }
        #expect(try await Self.checks([.holdForeignTransactions], commandsPerFault: 60, sabotage) == [.snapshot])
    }

    @Test func `when it does not come back`() async {
        await #expect { try await wait(for: "what never comes", withinSeconds: 0.02) { false } } throws: { error in
            (error as? Violation)?.check == .recovery
        }
    }

    @Test func `when one character of a restored log differs`() async throws {
        func digest(ofLogWith data: String) async throws -> String {
            try await TestDatabase.with { database in
                try await database.withClient { client in
                    try await client.query(
                        """
                        INSERT INTO log.recorded_events VALUES (1, '00000000-0000-0000-0000-000000000001', 'tea-1', 1, 'Brewed', 1,
                            '2013-09-16', \(data)::json, '{}')
                        """)
                    return try await LogRow.digest(client)
                }
            }
        }
        let first = try await digest(ofLogWith: #"{"cups":1}"#)
        #expect(try await digest(ofLogWith: #"{"cups":1}"#) == first)
        #expect(try await digest(ofLogWith: #"{"cups": 1}"#) != first)
    }
}

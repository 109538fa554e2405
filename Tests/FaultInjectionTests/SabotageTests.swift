import Foundation
import Postgres
import TestDatabase
import Testing

/// Each check is seen failing: short runs against a system with one defect.
@Suite(.serialized, .alone) struct `Finding a broken system` {
    private static func checks(
        _ faults: [Fault], commandsPerFault: Int = 12, seed: UInt64 = 5, _ sabotage: Sabotage
    ) async throws -> Set<Check> {
        let schedule = FaultInjectionSchedule(seed: seed, only: faults, commandsPerFault: commandsPerFault)
        let report = try await FaultInjectionRun.run(schedule, isMoving: false, sabotage)
        return Set(report.violations.map(\.check))
    }

    @Test func `a commit that PostgreSQL acknowledges before writing it is found as a loss`() async throws {
        // With these settings only a checkpoint writes the last commits.
        let settings = ["synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"]
        var found: Set<Check> = []
        // Another write may flush the commits by chance, so the test tries several seeds.
        for seed in UInt64(5)..<10 where !found.contains(.acknowledgedOnce) {
            found = try await Self.checks(
                [.killPostgres], commandsPerFault: 20, seed: seed, Sabotage(postgresSettings: settings))
        }
        #expect(found.contains(.acknowledgedOnce))
    }

    @Test func `a fail-over to a standby that was behind is found as a loss`() async throws {
        let schedule = FaultInjectionSchedule(seed: 5, only: [.failOver(isBehind: true)])
        let report = try await FaultInjectionRun.run(schedule, isMoving: false)
        #expect(report.violations.contains { $0.check == .acknowledgedOnce })
    }

    @Test func `gaps in the positions are found, and they stop subscriptions and rebuilds`() async throws {
        let sabotage = Sabotage { client in
            let append = try await client.query("SELECT pg_get_functiondef('log.append'::regproc)").decode(String.self)[0]
            let broken =
                append
                .replacing("SELECT tail + 1 - array_lower", with: "SELECT tail + 2 - array_lower")
                .replacing("tail + cardinality(ids)", with: "tail + cardinality(ids) + 1")
                .replacing("RETURN tail + 1", with: "RETURN tail + 2")
            try await client.withConnection { try await $0.execute(script: broken) }
            // A server that starts would replace the function, unless it finds those of a newer program.
            try await client.query("INSERT INTO humon.migrations VALUES ('functions_9999', '', now(), '0001_log')")
        }
        let found = try await Self.checks([.killServer(0)], sabotage)
        #expect(found.isSuperset(of: [.positions, .readModels, .subscription]))
    }

    @Test
    func `a read model that misses changes, a subscription that repeats and clients with fresh keys are found`() async throws {
        let sabotage = Sabotage(client: .freshKeys, subscription: .repeats) { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE FUNCTION fault_injection.keep() RETURNS trigger LANGUAGE plpgsql AS
                            'BEGIN NEW.name = OLD.name; RETURN NEW; END';
                        CREATE TRIGGER keep BEFORE UPDATE ON events_v1.events FOR EACH ROW EXECUTE FUNCTION fault_injection.keep();
                        """)
            }
        }
        let found = try await Self.checks([.cutConnections(.beforeResponse), .killServer(0), .killServer(1)], sabotage)
        #expect(found.isSuperset(of: [.readModels, .index, .subscription, .acknowledgedOnce]))
    }

    @Test func `a subscription that skips events and a client that believes refused commands are found`() async throws {
        let found = try await Self.checks(
            [.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .believesRefusals, subscription: .skips))
        #expect(found.isSuperset(of: [.subscription, .acknowledgedOnce]))
    }

    @Test func `a refused command that is recorded and an index that is not in use are found`() async throws {
        let found = try await Self.checks([.replaceSubscription(0)], Sabotage(client: .reportsRefusals, hasIndex: false))
        #expect(found.isSuperset(of: [.refusedNever, .index]))
    }

    @Test func `a client that misses changes of its list is found`() async throws {
        let found = try await Self.checks([.replaceSubscription(0)], commandsPerFault: 20, Sabotage(follower: .skips))
        #expect(found.contains(.changes))
    }

    @Test func `ignored idempotency keys are found`() async throws {
        let found = try await Self.checks([.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .dropsKeys))
        #expect(found.isSuperset(of: [.repetition, .acknowledgedOnce, .responses]))
    }

    @Test func `an update of a shared row by every append is found under an open snapshot`() async throws {
        let sabotage = Sabotage { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE FUNCTION fault_injection.touch() RETURNS trigger LANGUAGE plpgsql AS
                            'BEGIN UPDATE log.read_models SET built_at = clock_timestamp(); RETURN NULL; END';
                        CREATE TRIGGER touch AFTER INSERT ON log.recorded_events
                            FOR EACH STATEMENT EXECUTE FUNCTION fault_injection.touch();
                        """)
            }
        }
        #expect(try await Self.checks([.holdForeignTransactions], commandsPerFault: 60, sabotage).contains(.snapshot))
    }

    @Test func `a system that does not recover is found`() async {
        await #expect { try await wait(for: "a condition that stays false", withinSeconds: 0.02) { false } } throws: { error in
            (error as? Violation)?.check == .recovery
        }
    }

    @Test func `a restored log that differs by one character is found`() async throws {
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

import Foundation
import Postgres
import TestDatabase

/// Each check is seen failing: short runs against a system with one defect.
enum BrokenSystems {
    static var scenarios: [FaultInjection.Scenario] {
        [
            ("a commit that PostgreSQL acknowledges before writing it is found as a loss", earlyAcknowledgement),
            ("a fail-over to a standby that was behind is found as a loss", lateStandby),
            ("gaps in the positions are found, and they stop subscriptions and rebuilds", gaps),
            (
                "a read model that misses changes, a subscription that repeats and clients with fresh keys are found",
                staleReadModel
            ),
            ("a subscription that skips events and a client that believes refused commands are found", skippingSubscription),
            ("a refused command that is recorded is found", recordedRefusal),
            ("a client that misses changes of its list is found", skippingClient),
            ("ignored idempotency keys are found", ignoredKeys),
            ("an update of a shared row by every append is found under an open snapshot", sharedRow),
        ]
    }

    private static func checks(
        _ faults: [Fault], commandsPerFault: Int = 12, seed: UInt64 = 5, _ sabotage: Sabotage
    ) async throws -> Set<Check> {
        let schedule = FaultInjectionSchedule(seed: seed, only: faults, commandsPerFault: commandsPerFault)
        let report = try await FaultInjectionRun.run(schedule, isMoving: false, sabotage)
        return Set(report.violations.map(\.check))
    }

    @Sendable private static func earlyAcknowledgement() async throws {
        // With these settings only a checkpoint writes the last commits.
        let settings = ["synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"]
        var found: Set<Check> = []
        // Another write may flush the commits by chance, so the test tries several seeds.
        for seed in UInt64(5)..<10 where !found.contains(.acknowledgedOnce) {
            found = try await checks(
                [.killPostgres], commandsPerFault: 20, seed: seed, Sabotage(postgresSettings: settings))
        }
        try expect(found.contains(.acknowledgedOnce), "\(found) has what is broken")
    }

    @Sendable private static func lateStandby() async throws {
        let schedule = FaultInjectionSchedule(seed: 5, only: [.failOver(isBehind: true)])
        let report = try await FaultInjectionRun.run(schedule, isMoving: false)
        try expect(report.violations.contains { $0.check == .acknowledgedOnce }, "the loss is found")
    }

    @Sendable private static func gaps() async throws {
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
        let found = try await checks([.killServer(0)], sabotage)
        try expect(found.isSuperset(of: [.positions, .readModels, .subscription]), "\(found) has what is broken")
    }

    @Sendable private static func staleReadModel() async throws {
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
        let found = try await checks([.cutConnections(.beforeResponse), .killServer(0), .killServer(1)], sabotage)
        try expect(found.isSuperset(of: [.readModels, .index, .subscription, .acknowledgedOnce]), "\(found) has what is broken")
    }

    @Sendable private static func skippingSubscription() async throws {
        let found = try await checks(
            [.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .believesRefusals, subscription: .skips))
        try expect(found.isSuperset(of: [.subscription, .acknowledgedOnce]), "\(found) has what is broken")
    }

    @Sendable private static func recordedRefusal() async throws {
        let found = try await checks([.replaceSubscription(0)], Sabotage(client: .reportsRefusals))
        try expect(found.contains(.refusedNever), "\(found) has what is broken")
    }

    @Sendable private static func skippingClient() async throws {
        let found = try await checks([.replaceSubscription(0)], commandsPerFault: 20, Sabotage(follower: .skips))
        try expect(found.contains(.changes), "\(found) has what is broken")
    }

    @Sendable private static func ignoredKeys() async throws {
        let found = try await checks([.replaceSubscription(0)], commandsPerFault: 20, Sabotage(client: .dropsKeys))
        try expect(found.isSuperset(of: [.repetition, .acknowledgedOnce, .responses]), "\(found) has what is broken")
    }

    @Sendable private static func sharedRow() async throws {
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
        try expect(
            try await checks([.holdForeignTransactions], commandsPerFault: 60, sabotage).contains(.snapshot), "it is found")
    }
}

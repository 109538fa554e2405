import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// The next program's projection of the same domain events: it also counts them, in a table of another shape.
private struct CountingSumProjection: Projection {
    static let name = "sums"
    static let version: Int32 = 2
    static let personalColumns: Set<String> = []

    static let tables = "CREATE TABLE totals (counter text PRIMARY KEY, sum bigint NOT NULL, times bigint NOT NULL);"

    static let indexes = ""

    func fold(_ envelopes: [EventEnvelope<Counted>]) -> [String: (sum: Int64, times: Int64)] {
        envelopes.reduce(into: [:]) { totals, envelope in
            switch envelope.event {
            case .counted(let number):
                let before = totals[envelope.stream.key] ?? (0, 0)
                totals[envelope.stream.key] = (before.sum + number, before.times + 1)
            }
        }
    }

    func writes(for totals: [String: (sum: Int64, times: Int64)], in schema: String) -> [Write] {
        let counters = totals.keys.sorted()
        return [
            .run(
                """
                INSERT INTO \(identifier: schema).totals AS t (counter, sum, times)
                SELECT * FROM unnest(\(counters), \(counters.map { totals[$0]?.sum ?? 0 }), \(counters.map { totals[$0]?.times ?? 0 }))
                ON CONFLICT (counter) DO UPDATE SET sum = t.sum + excluded.sum, times = t.times + excluded.times
                """
            )
        ]
    }
}

/// Follows the steps of docs/operating.md with the projections of two programs.
@Suite(.database) struct `Deploying a change of a read model` {
    /// One program with its writer, its notifier and its projection runner.
    private static func withProgram(
        _ client: PostgresClient, _ projection: any Projection,
        _ body: @escaping @Sendable (EventLog, ReadModels) async throws -> Void
    ) async throws {
        let models = ReadModels(projections: [projection], client: client, logger: .quiet)
        try await models.prepare()
        let programs = RunningPrograms(ProgramFormats(of: [Counted.self]), readModels: models, client: client, logger: .quiet)
        try await TestStore.withNotifier(client, listens: true) { notifier in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await programs.run() }
                group.addTask { await ProjectionRunner(models, notifier: notifier, logger: .quiet).run() }
                defer { group.cancelAll() }
                try await TestStore.withLog(client, projections: [projection], notifier: notifier) { log in
                    try await body(log, models)
                }
            }
        }
    }

    private static func append(_ range: Range<Int>, of counter: String, to log: EventLog) async throws {
        for number in range { _ = try await log.record(.counting(counter, after: Int32(number), by: Int64(number))) }
    }

    private static let sums: SQL = "SELECT counter || ' ' || sum FROM sums_v1.sums ORDER BY counter"
    private static let totals: SQL = "SELECT counter || ' ' || sum FROM sums_v2.totals ORDER BY counter"

    @Test func `a deploy builds the new read model beside the old one, and both programs run together`() async throws {
        try await database.declare([SumProjection(), CountingSumProjection()])
        try await database.withClient(role: "log_app", connections: 5) { client in
            try await database.withClient(role: "log_app", connections: 5) { newClient in
                try await Self.withProgram(client, SumProjection()) { old, oldModels in
                    try await Self.append(0..<50, of: "a", to: old)
                    try await Self.withProgram(newClient, CountingSumProjection()) { new, newModels in
                        // The new read model was built from the old program's events.
                        #expect(try await newClient.query(Self.totals).decode(String.self) == ["a 1225"])
                        async let fromOld: Void = Self.append(50..<150, of: "a", to: old)
                        async let fromNew: Void = Self.append(0..<100, of: "b", to: new)
                        _ = try await (fromOld, fromNew)
                        // Each program shows the other's appends without an append of its own; the notification wakes it,
                        // since polling is off.
                        for (reader, query) in [(client, Self.sums), (newClient, Self.totals)] {
                            try await eventually("the sums of both programs' appends") {
                                try await reader.query(query).decode(String.self) == ["a 11175", "b 4950"]
                            }
                        }
                        #expect(try await oldModels.verify { _ in }.map(\.differing) == [0])
                        #expect(try await newModels.verify { _ in }.map(\.differing) == [0])
                        #expect(
                            try await newModels.list().map { "\($0.schema) \($0.state)" } == [
                                "sums_v2 ready", "sums_v1 otherVersion",
                            ])
                        // The old program still answers from its own read model.
                        #expect(try await newModels.prune() == [])
                    }
                    // After a rollback of the deploy the old program runs alone and shows every event.
                    try await Self.append(150..<160, of: "a", to: old)
                    #expect(try await client.query(Self.sums).decode(String.self) == ["a 12720", "b 4950"])
                }
                let models = ReadModels(projections: [CountingSumProjection()], client: newClient, logger: .quiet)
                try await models.prepare()
                #expect(try await newClient.query(Self.totals).decode(String.self) == ["a 12720", "b 4950"])
                // PostgreSQL ends the sessions of the old program a moment after their connections.
                try await eventually("the end of the old program's sessions") { try await models.prune() == ["sums_v1"] }
                #expect(try await models.list().map(\.state) == [.ready])
                // The way back to the old program, which builds its read model again.
                try await ReadModels(projections: [SumProjection()], client: client, logger: .quiet).prepare()
                #expect(try await client.query(Self.sums).decode(String.self) == ["a 12720", "b 4950"])
            }
        }
    }
}

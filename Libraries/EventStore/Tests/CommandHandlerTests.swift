import Foundation
import Postgres
import Telemetry
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Carrying out a command` {
    private struct Refusal: Rejection, Equatable { var kind: RejectionKind { .conflict } }

    private static func counting(after version: Int32) -> CommandDecision {
        CommandDecision(Counted.counted(1), to: StreamName("counter-a"), after: version, by: 7)
    }

    @Test func `a command under a key makes no query before its append, and a repetition makes none either`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient(role: "humon_app") { client in
                let commands = CommandHandler(log: store.log, database: client, dependencies: .system)
                let context = CommandContext(requestID: "test")
                let before = client.statistics.queries.counts.reduce(0, +)
                for round in 0..<2 {
                    for version: Int32 in 0..<5 {
                        let key = IdempotencyRecordKey(
                            id: UUID(derivedFrom: "\(version)"), requestHash: RequestHash(of: "request".utf8))
                        // The second time, the rule decides on the stream as it is now.
                        let decided = round == 0 ? version : 5
                        let (place, isRepeat) = try await commands.handle(context, key: key) { _ in Self.counting(after: decided)
                        }
                        #expect((place.position, place.version, isRepeat) == (Int64(version) + 1, version + 1, round == 1))
                    }
                }
                #expect(client.statistics.queries.counts.reduce(0, +) == before)
            }
        }
    }

    @Test func `a rejection stands only if the log has no result of the command and its conditions hold`() async throws {
        try await TestStore.with { store in
            let commands = CommandHandler(log: store.log, database: store.client, dependencies: .system)
            let key = IdempotencyRecordKey(id: UUID(derivedFrom: "key"), requestHash: RequestHash(of: "request".utf8))
            let other = IdempotencyRecordKey(id: key.id, requestHash: RequestHash(of: "other".utf8))
            let context = CommandContext(requestID: "test")
            await #expect(throws: Refusal()) { try await commands.handle(context, key: key) { _ in throw Refusal() } }
            let first = try await commands.handle(context, key: key) { _ in Self.counting(after: 0) }
            let again = try await commands.handle(context, key: key) { _ in throw Refusal() }
            #expect((again.place, again.isRepeat) == (first.place, true))
            await #expect(throws: KeyReusedError.self) { try await commands.handle(context, key: other) { _ in throw Refusal() } }
            var conditional = context
            conditional.conditions = [AppendCondition(stream: StreamName("counter-a"), lastID: key.id)]
            await #expect(throws: Refusal()) { try await commands.handle(conditional) { _ in throw Refusal() } }
            _ = try await commands.handle(context) { _ in Self.counting(after: 1) }
            for key in [nil, key] {
                await #expect(throws: FailedConditionError(condition: conditional.conditions[0])) {
                    try await commands.handle(conditional, key: key) { _ in throw Refusal() }
                }
            }
        }
    }

    @Test func `a decision on an old version is made again, with the present version`() async throws {
        try await TestStore.with { store in
            let commands = CommandHandler(log: store.log, database: store.client, dependencies: .system)
            try await store.count(1, counters: 1)
            let place = try await commands.handle(CommandContext(requestID: "test")) { conflict in
                CommandDecision(Counted.counted(1), to: StreamName("counter-0-x"), after: conflict?.actual ?? 0, by: nil)
            }.place
            #expect(place.version == 2)
        }
    }
}

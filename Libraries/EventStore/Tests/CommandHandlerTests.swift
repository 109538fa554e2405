import Encoding
import Foundation
import Postgres
import Synchronization
import Telemetry
import TestDatabase
import Testing

@testable import EventStore

extension TestStore {
    /// Carries out commands on counters.
    func commands(_ client: PostgresClient? = nil, dependencies: Dependencies = .system) -> CommandHandler {
        let client = client ?? self.client
        return CommandHandler(
            log: log, database: client, dependencies: dependencies, state: StateReader(of: SumProjection(), client: client))
    }
}

@Suite(.store) struct `Carrying out a command` {
    private struct Refusal: Rejection, Equatable { var kind: RejectionKind { .conflict } }

    private static let caller = StreamName("user-7")

    private static func counting(after version: Int32) -> Decision {
        Decision(Counted.counted(1), to: StreamName("counter-a"), after: version, by: 7)
    }

    private static func context(_ key: String, request: String = "request") -> CommandContext {
        CommandContext(requestID: "test", key: IdempotencyKey(key, request: request.utf8))
    }

    @Test func `a command under a key makes no query before its append, and a repetition makes none either`() async throws {
        try await store.database.withClient(role: "log_app") { client in
            let commands = store.commands(client)
            _ = try await commands.pepper.id(of: "the first one asks the database")
            let before = client.statistics.queries.snapshot.counts.reduce(0, +)
            for round in 0..<2 {
                for version: Int32 in 0..<5 {
                    // The second time, the rule decides on the stream as it is now.
                    let decided = round == 0 ? version : 5
                    let (place, isRepeat) = try await commands.handle(Self.context("\(version)"), by: Self.caller) {
                        Self.counting(after: decided)
                    }
                    #expect((place.position, place.version, isRepeat) == (Int64(version) + 1, version + 1, round == 1))
                }
            }
            #expect(client.statistics.queries.snapshot.counts.reduce(0, +) == before)
        }
    }

    @Test func `a rejection stands only if the log has no result of the command and its conditions hold`() async throws {
        let commands = store.commands()
        let (context, other) = (Self.context("once"), Self.context("once", request: "other"))
        await #expect(throws: Refusal()) { try await commands.handle(context, by: Self.caller) { throw Refusal() } }
        let first = try await commands.handle(context, by: Self.caller) { Self.counting(after: 0) }
        let again = try await commands.handle(context, by: Self.caller) { throw Refusal() }
        #expect((again.place, again.isRepeat) == (first.place, true))
        await #expect(throws: KeyReusedError.self) { try await commands.handle(other, by: Self.caller) { throw Refusal() } }
        await #expect(throws: Refusal()) { try await commands.handle(context, by: StreamName("user-8")) { throw Refusal() } }
        var conditional = CommandContext(requestID: "test")
        let name = try #require(context.commandName(of: Self.caller))
        let last = try await Pepper(database: store.client, history: store.log.history).id(of: name)
        #expect(last != UUID(derivedFrom: name))
        conditional.conditions = [AppendCondition(stream: StreamName("counter-a"), lastID: last)]
        await #expect(throws: Refusal()) { try await commands.handle(conditional) { throw Refusal() } }
        _ = try await commands.handle(CommandContext(requestID: "test")) { Self.counting(after: 1) }
        var keyed = conditional
        keyed.key = context.key
        for context in [conditional, keyed] {
            await #expect(throws: FailedConditionError(condition: conditional.conditions[0])) {
                try await commands.handle(context, by: Self.caller) { throw Refusal() }
            }
        }
    }
}

@Suite struct `A decision on several streams` {
    @Test func `the streams that change come last, in order, and without a change one stream answers`() {
        let kept = StreamAppend.counting("kept", after: 3)
        let changed = ["first", "second"].map { StreamAppend.counting($0, after: 0, by: 1) }
        let id = UUID()
        let decision = Decision([changed[0], kept, changed[1]], by: nil, id: id)
        #expect(decision.streams.map(\.stream.key) == ["kept", "first", "second"] && decision.id == id)
        let idle = Decision([kept, .counting("last", after: 0)], by: nil, id: id)
        #expect(idle.streams.map(\.stream.key) == ["last"] && idle.id == nil)
    }
}

@Suite(.store) struct `Deciding again after a version conflict` {
    /// Records the delays instead of waiting for them.
    private final class Waits: Sendable {
        private let delays = Mutex<[Double]>([])
        var seconds: [Double] { delays.withLock(\.self) }

        func dependencies(jitter: Double = 1) -> Dependencies {
            Dependencies(
                now: { Timestamp(milliseconds: 0) }, randomUUID: { UUID() },
                sleep: { [self] duration in
                    try Task.checkCancellation()
                    delays.withLock { $0.append(duration / .seconds(1)) }
                }, jitter: { jitter })
        }
    }

    private static let stream = StreamName("counter-a")
    private static let context = CommandContext(requestID: "test")

    private static func counting(after version: Int32) -> Decision {
        Decision(Counted.counted(1), to: stream, after: version, by: nil)
    }

    @Test func `retry delays double up to 0.25 s times the jitter, and the 30th attempt is the last`() async throws {
        let waits = Waits()
        let commands = store.commands(dependencies: waits.dependencies(jitter: 0.5))
        let decisions = Mutex(0)
        await #expect(throws: StreamContended(stream: Self.stream)) {
            try await commands.handle(Self.context) {
                decisions.withLock { $0 += 1 }
                return Self.counting(after: 9)
            }
        }
        let count = decisions.withLock(\.self)
        #expect(count == 30)
        // The jitter is a half.
        #expect(waits.seconds.prefix(7) == [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.125])
        #expect(waits.seconds.dropFirst(6).allSatisfy { $0 == 0.125 })
        #expect(waits.seconds.count == 29)
    }

    @Test func `the next attempt decides on a read model that shows the change, also one of another version`() async throws {
        _ = try await store.log.record(.counting("a", after: 0))
        try await store.countElsewhere("a", version: 2)
        let decided = Mutex<[Int32]>([])
        let place = try await store.commands().handle(Self.context) {
            let shown = try await store.client.query("SELECT version FROM sums_v1.sums").decode(Int32.self)
            decided.withLock { $0 += shown }
            return Self.counting(after: shown[0])
        }.place
        #expect(place.version == 3)
        let versions = decided.withLock(\.self)
        #expect(versions == [1, 2])
    }

    @Test func `a read model that stays behind is reported as such, after the last attempt`() async throws {
        _ = try await store.log.record(.counting("a", after: 0))
        try await store.countElsewhere("a", version: 2, #"{"unreadable":true}"#)
        let waits = Waits()
        await #expect(throws: ReadModelError.behind("sums_v1")) {
            // Nothing of this append needs the read model of this program.
            try await TestStore.withLog(store.client, projections: []) { log in
                let commands = CommandHandler(
                    log: log, database: store.client, dependencies: waits.dependencies(),
                    state: StateReader(of: SumProjection(), client: store.client))
                _ = try await commands.handle(Self.context) { Self.counting(after: 1) }
            }
        }
        #expect(waits.seconds.count == 29)
    }

    @Test func `an error that is no conflict is thrown without a retry, and cancellation ends the retries`() async throws {
        let waits = Waits()
        let commands = store.commands(dependencies: waits.dependencies())
        let error = ReadModelError.behind("sums_v1")
        await #expect(throws: error) { try await commands.handle(Self.context) { throw error } }
        #expect(waits.seconds.isEmpty)
        let task = Task {
            try await commands.handle(Self.context) {
                withUnsafeCurrentTask { $0?.cancel() }
                return Self.counting(after: 9)
            }
        }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}

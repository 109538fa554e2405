import Encoding
import Foundation
import Synchronization
import Testing

@testable import EventStore

@Suite struct `Retrying after a version conflict` {
    /// Records the delays instead of waiting for them.
    private final class Waits: Sendable {
        let seconds = Mutex<[Double]>([])

        func retry(jitter: Double = 1) -> ConflictRetry {
            ConflictRetry(
                dependencies: Dependencies(
                    now: { Timestamp(milliseconds: 0) }, randomUUID: { UUID() },
                    sleep: { [self] duration in
                        try Task.checkCancellation()
                        seconds.withLock { $0.append(duration / .seconds(1)) }
                    }, jitter: { jitter }))
        }
    }

    private static let conflict = VersionConflict(stream: StreamName("event-1"), expected: 1, actual: 2)

    @Test func `retry delays double up to a quarter of a second, and the 30th attempt is the last`() async {
        let waits = Waits()
        let attempts = Mutex(0)
        await #expect(throws: StreamContended(stream: StreamName("event-1"))) {
            try await waits.retry().run { _ in
                attempts.withLock { $0 += 1 }
                return .conflict(Self.conflict)
            }
        }
        let count = attempts.withLock(\.self)
        #expect(count == 30)
        let seconds = waits.seconds.withLock(\.self)
        #expect(seconds.prefix(7) == [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.25])
        #expect(seconds.dropFirst(6).allSatisfy { $0 == 0.25 })
        #expect(seconds.count == 29)
    }

    @Test func `each retry delay is multiplied by the random jitter`() async {
        let waits = Waits()
        await #expect(throws: StreamContended.self) {
            try await waits.retry(jitter: 0.5).run { _ in return .conflict(Self.conflict) }
        }
        let seconds = waits.seconds.withLock(\.self)
        #expect(seconds.prefix(2) == [0.0025, 0.005])
    }

    @Test func `the next attempt gets the conflict, and its result is returned`() async throws {
        let waits = Waits()
        let told = Mutex<[VersionConflict?]>([])
        let value = try await waits.retry().run { conflict in
            told.withLock { $0.append(conflict) }
            return conflict == nil ? .conflict(Self.conflict) : .keyReused
        }
        #expect(value == .keyReused)
        let conflicts = told.withLock(\.self)
        #expect(conflicts == [nil, Self.conflict])
    }

    @Test func `a read model that stays behind is reported as such`() async {
        await #expect(throws: ReadModelError.behind("events_v1")) {
            try await Waits().retry().run { _ in throw ReadModelLag(schema: "events_v1") }
        }
    }

    @Test func `an error that is no conflict is thrown without a retry, and cancellation ends the retries`() async {
        let waits = Waits()
        let error = ReadModelError.behind("events_v1")
        await #expect(throws: error) { try await waits.retry().run { _ in throw error } }
        let seconds = waits.seconds.withLock(\.self)
        #expect(seconds.isEmpty)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await waits.retry().run { _ in .conflict(Self.conflict) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

import Synchronization
import Testing

@testable import EventStore

@Suite struct `Knowing how far a number can have grown` {
    private final class Source: Sendable {
        let number: Atomic<Int64>
        let queries = Atomic(0)
        private let time = Mutex(ContinuousClock.now)

        init(_ number: Int64) { self.number = Atomic(number) }

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }

        var bound: GrowthBound {
            GrowthBound(now: { self.time.withLock { $0 } }) {
                self.queries.add(1, ordering: .relaxed)
                return self.number.load(ordering: .relaxed)
            }
        }
    }

    @Test func `a value far beyond the number costs one query a second, and none while the result is known`() async throws {
        let source = Source(12)
        let bound = source.bound
        #expect(!bound.isKnownBeyond(.max))
        for _ in 0..<100 { #expect(try await bound.isBeyond(.max)) }
        #expect(bound.isKnownBeyond(.max) && bound.isKnownBeyond(13 + GrowthBound.margin))
        #expect(source.queries.load(ordering: .relaxed) == 1)
        source.pass(.seconds(1))
        #expect(!bound.isKnownBeyond(.max))
        #expect(try await bound.isBeyond(.max))
        #expect(source.queries.load(ordering: .relaxed) == 2)
    }

    @Test func `a value that the number may reach within a second is not beyond it, and costs no query`() async throws {
        let source = Source(1_000)
        let bound = source.bound
        _ = try await bound.isBeyond(.max)
        for value in [-1, 0, 1, 999, 1_000, 1_001, 1_000 + GrowthBound.margin, .min] {
            #expect(!bound.isKnownBeyond(value))
            #expect(try await !bound.isBeyond(value))
        }
        #expect(source.queries.load(ordering: .relaxed) == 1)
    }

    @Test func `the number is read again before a value counts as beyond it`() async throws {
        let source = Source(0)
        let bound = source.bound
        let value = 2 * GrowthBound.margin
        #expect(try await bound.isBeyond(value))
        source.number.store(value, ordering: .relaxed)
        source.pass(.seconds(1))
        #expect(try await !bound.isBeyond(value))
    }

    @Test func `a failed query is an error, and the next second asks again`() async throws {
        struct Failure: Error {}
        let fails = Mutex(true)
        let time = Mutex(ContinuousClock.now)
        let bound = GrowthBound(now: { time.withLock { $0 } }) {
            if fails.withLock({ $0 }) { throw Failure() }
            return 0
        }
        await #expect(throws: Failure.self) { try await bound.isBeyond(.max) }
        fails.withLock { $0 = false }
        time.withLock { $0 += .seconds(1) }
        #expect(try await bound.isBeyond(.max))
    }
}

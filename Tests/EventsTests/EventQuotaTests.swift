import Synchronization
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `The quota of a user's live events` {
    /// A read model of one user, that the creations of a test fill.
    private final class Table: Sendable {
        let live = Mutex(0)
        let counts = Mutex(0)

        func count() -> Int {
            counts.withLock { $0 += 1 }
            return live.withLock { $0 }
        }
    }

    private static func create(_ quota: EventQuota, _ table: Table, by user: UserID = .ann) async throws {
        try await quota.withRoom(for: user, counting: { table.count() }) { live in
            _ = try decideCreation(of: .picnic, by: user, liveEvents: live, quota: quota.limit)
            await Task.yield()
            table.live.withLock { $0 += 1 }
        }
    }

    private static func isGranted(_ quota: EventQuota, _ table: Table, by user: UserID = .ann) async throws -> Bool {
        do { try await create(quota, table, by: user) } catch EventRejection.tooManyEvents(maximum: quota.limit) { return false }
        return true
    }

    @Test(arguments: [1, 2, 9, 10, 100]) func `a user creates as many events as the quota says, and then no more`(limit: Int)
        async throws
    {
        let (quota, table) = (EventQuota(limit: limit), Table())
        for number in 1...limit { #expect(try await Self.isGranted(quota, table), "\(number)") }
        for _ in 0..<3 { #expect(try await !Self.isGranted(quota, table)) }
        // A cancellation makes room.
        table.live.withLock { $0 -= 1 }
        #expect(try await Self.isGranted(quota, table))
        #expect(try await !Self.isGranted(quota, table))
        #expect(try await Self.isGranted(quota, Table(), by: .bob))
    }

    @Test(arguments: [3, 40]) func `concurrent creations on one node do not exceed the quota`(limit: Int) async throws {
        let (quota, table) = (EventQuota(limit: limit), Table())
        let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { try await Self.isGranted(quota, table) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(granted <= limit)
        // A creation that was refused beside others finds the room that is left.
        for _ in granted..<limit { #expect(try await Self.isGranted(quota, table)) }
        #expect(try await !Self.isGranted(quota, table))
    }

    @Test func `counts become rare while there is room`() async throws {
        let (quota, table) = (EventQuota(limit: 10_000), Table())
        for _ in 0..<5_000 { try await Self.create(quota, table) }
        #expect(table.counts.withLock { $0 } < 20)
    }

    @Test func `concurrent creations share a count`() async throws {
        let (quota, table, arrived) = (EventQuota(limit: 1_000_000), Table(), Table())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    arrived.live.withLock { $0 += 1 }
                    let count = { @Sendable in
                        try await eventually("the other creations") { arrived.live.withLock { $0 } == 50 }
                        return table.count()
                    }
                    try await quota.withRoom(for: .ann, counting: count) { _ in }
                }
            }
            try await group.waitForAll()
        }
        // A creation that arrives when the count has just ended may begin another one.
        #expect(table.counts.withLock { $0 } < 5)
    }

    @Test func `a creation that fails gives its room back`() async throws {
        struct Failure: Error {}
        let (quota, table) = (EventQuota(limit: 1), Table())
        for _ in 0..<5 {
            await #expect(throws: Failure.self) {
                try await quota.withRoom(for: .ann, counting: { table.count() }) { live in
                    #expect(live == 0)
                    throw Failure()
                }
            }
        }
        #expect(try await Self.isGranted(quota, table))
    }

    @Test func `without a quota nothing is counted`() async throws {
        let (quota, table) = (EventQuota(limit: 0), Table())
        for _ in 0..<10 { try await Self.create(quota, table) }
        #expect(table.counts.withLock { $0 } == 0)
    }
}

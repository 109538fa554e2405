import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Looking up in batches` {
    /// A database that notes its queries, and answers when the test lets it.
    private final class Table: Sendable {
        struct Away: Error {}

        private let state = Mutex((queries: [[Int]](), isOpen: true, isAway: false))

        var queries: [[Int]] { state.withLock { $0.queries } }

        func set(isOpen: Bool) { state.withLock { $0.isOpen = isOpen } }
        func set(isAway: Bool) { state.withLock { $0.isAway = isAway } }

        /// Knows the numbers 1 to 99.
        func search(_ keys: [Int]) async throws -> [Int: String] {
            let isAway = state.withLock { state in
                state.queries.append(keys)
                return state.isAway
            }
            try await eventually("the test to let the query go on") { state.withLock { $0.isOpen } }
            if isAway { throw Away() }
            let known = Dictionary(uniqueKeysWithValues: (1...99).map { ($0, "\($0)") })
            return known.filter { keys.contains($0.key) }
        }
    }

    private let table = Table()

    private func lookup(waiterLimit: Int = 100) -> BatchedLookup<Int, String> {
        BatchedLookup<Int, String>(waiterLimit: waiterLimit) { [table] in try await table.search($0) }
    }

    @Test func `every lookup asks again, and an unknown key has no value`() async throws {
        let lookup = lookup()
        for _ in 0..<2 { #expect(try await lookup.value(of: 7) == "7") }
        #expect(try await lookup.value(of: 100) == nil)
        #expect(table.queries == [[7], [7], [100]])
    }

    @Test func `lookups during a query become one query, with each key once`() async throws {
        let lookup = lookup()
        table.set(isOpen: false)
        try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            group.addTask { (1, try await lookup.value(of: 1)) }
            try await eventually { table.queries.count == 1 }
            for number in 2...50 { group.addTask { (number / 2, try await lookup.value(of: number / 2)) } }
            try await eventually { lookup.waiting == 50 }
            table.set(isOpen: true)
            for try await (number, user) in group { #expect(user == "\(number)") }
        }
        #expect(table.queries.count == 2)
        #expect(table.queries[1].count == 25)
        #expect(Set(table.queries[1]) == Set(1...25))
    }

    @Test func `a failed query fails its callers and the queue, and a later caller asks again`() async throws {
        let lookup = lookup()
        table.set(isAway: true)
        table.set(isOpen: false)
        let first = Task { try await lookup.value(of: 1) }
        try await eventually { table.queries.count == 1 }
        table.set(isAway: false)
        let second = Task { try await lookup.value(of: 2) }
        try await eventually { lookup.waiting == 2 }
        table.set(isOpen: true)
        for caller in [first, second] { await #expect(throws: Table.Away.self) { try await caller.value } }
        #expect(try await lookup.value(of: 2) == "2")
        #expect(table.queries == [[1], [2]])
    }

    @Test func `a cancelled caller stops to wait, and the others get their users`() async throws {
        let lookup = lookup()
        table.set(isOpen: false)
        let asking = Task { try await lookup.value(of: 1) }
        try await eventually { table.queries.count == 1 }
        let queued = Task { try await lookup.value(of: 2) }
        let other = Task { try await lookup.value(of: 3) }
        try await eventually { lookup.waiting == 3 }
        asking.cancel()
        queued.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await #expect(throws: CancellationError.self) { try await queued.value }
        // A caller that is cancelled before it asks.
        let early = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await lookup.value(of: 4)
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(lookup.waiting == 1)
        table.set(isOpen: true)
        #expect(try await other.value == "3")
        #expect(table.queries == [[1], [3]])
    }

    @Test func `a caller beyond the limit is refused at once, and a later one is accepted`() async throws {
        let lookup = lookup(waiterLimit: 2)
        table.set(isOpen: false)
        let callers = [1, 2].map { number in Task { try await lookup.value(of: number) } }
        try await eventually { lookup.waiting == 2 }
        let error = await #expect(throws: PostgresError.self) { try await lookup.value(of: 3) }
        #expect(error?.isUnavailability == true)
        table.set(isOpen: true)
        for caller in callers { _ = try await caller.value }
        #expect(try await lookup.value(of: 3) == "3")
    }
}

extension BatchedLookup {
    /// Number of callers that wait.
    fileprivate var waiting: Int { state.withLock { $0.waiters.count } }
}

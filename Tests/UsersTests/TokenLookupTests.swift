import EventStore
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import Users

@Suite struct `Looking tokens up in batches` {
    /// A database that notes its queries, and answers when the test lets it.
    private final class Table: Sendable {
        struct Away: Error {}

        private let state = Mutex((queries: [[DeviceDigest]](), isOpen: true, isAway: false))

        var queries: [[DeviceDigest]] { state.withLock { $0.queries } }

        func set(isOpen: Bool) { state.withLock { $0.isOpen = isOpen } }
        func set(isAway: Bool) { state.withLock { $0.isAway = isAway } }

        /// Knows the devices 1 to 99, each of the user with its number.
        func search(_ devices: [DeviceDigest]) async throws -> [DeviceDigest: UserID] {
            let isAway = state.withLock { state in
                state.queries.append(devices)
                return state.isAway
            }
            try await eventually("the test to let the query go on") { state.withLock { $0.isOpen } }
            if isAway { throw Away() }
            let known = Dictionary(uniqueKeysWithValues: (1...99).map { (device($0), UserID(rawValue: Int64($0))) })
            return known.filter { devices.contains($0.key) }
        }
    }

    private let table = Table()

    private func lookup(timeoutSeconds: Double = 60, callerLimit: Int = 100) -> TokenLookup {
        TokenLookup(timeoutSeconds: timeoutSeconds, callerLimit: callerLimit) { [table] in try await table.search($0) }
    }

    @Test func `every lookup asks again, so that a dead token is not found, and no user has an unknown device`() async throws {
        let lookup = lookup()
        for _ in 0..<2 { #expect(try await lookup.user(of: device(7)) == UserID(rawValue: 7)) }
        #expect(try await lookup.user(of: device(100)) == nil)
        #expect(table.queries == [[device(7)], [device(7)], [device(100)]])
    }

    @Test func `lookups during a query become one query, with each device once`() async throws {
        let lookup = lookup()
        table.set(isOpen: false)
        try await withThrowingTaskGroup(of: (Int, UserID?).self) { group in
            group.addTask { (1, try await lookup.user(of: device(1))) }
            try await eventually { table.queries.count == 1 }
            for number in 2...50 { group.addTask { (number / 2, try await lookup.user(of: device(number / 2))) } }
            try await eventually { lookup.waiting == 50 }
            table.set(isOpen: true)
            for try await (number, user) in group { #expect(user == UserID(rawValue: Int64(number))) }
        }
        #expect(table.queries.count == 2)
        #expect(table.queries[1].count == 25)
        #expect(Set(table.queries[1]) == Set((1...25).map(device)))
    }

    @Test func `a failed query fails its callers only`() async throws {
        let lookup = lookup()
        table.set(isAway: true)
        table.set(isOpen: false)
        let first = Task { try await lookup.user(of: device(1)) }
        try await eventually { table.queries.count == 1 }
        table.set(isAway: false)
        let second = Task { try await lookup.user(of: device(2)) }
        try await eventually { lookup.waiting == 2 }
        table.set(isOpen: true)
        await #expect(throws: Table.Away.self) { try await first.value }
        #expect(try await second.value == UserID(rawValue: 2))
    }

    @Test func `a cancelled caller stops to wait, and the others get their users`() async throws {
        let lookup = lookup()
        table.set(isOpen: false)
        let asking = Task { try await lookup.user(of: device(1)) }
        try await eventually { table.queries.count == 1 }
        let queued = Task { try await lookup.user(of: device(2)) }
        let other = Task { try await lookup.user(of: device(3)) }
        try await eventually { lookup.waiting == 3 }
        asking.cancel()
        queued.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await #expect(throws: CancellationError.self) { try await queued.value }
        // A caller that is cancelled before it asks.
        let early = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await lookup.user(of: device(4))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(lookup.waiting == 1)
        table.set(isOpen: true)
        #expect(try await other.value == UserID(rawValue: 3))
        #expect(table.queries == [[device(1)], [device(3)]])
    }

    @Test func `a caller whose time is over gets an error, in a query and in the queue`() async throws {
        let lookup = lookup(timeoutSeconds: 0.05)
        table.set(isOpen: false)
        let asking = Task { try await lookup.user(of: device(1)) }
        try await eventually { table.queries.count == 1 }
        let queued = Task { try await lookup.user(of: device(2)) }
        for caller in [asking, queued] {
            let error = await #expect(throws: PostgresError.self) { try await caller.value }
            #expect(error?.isUnavailability == true)
        }
        #expect(lookup.waiting == 0)
        table.set(isOpen: true)
    }

    @Test func `a caller beyond the limit is refused at once, and a later one is accepted`() async throws {
        let lookup = lookup(callerLimit: 2)
        table.set(isOpen: false)
        let callers = [1, 2].map { number in Task { try await lookup.user(of: device(number)) } }
        try await eventually { lookup.waiting == 2 }
        let error = await #expect(throws: PostgresError.self) { try await lookup.user(of: device(3)) }
        #expect(error?.isUnavailability == true)
        table.set(isOpen: true)
        for caller in callers { _ = try await caller.value }
        #expect(try await lookup.user(of: device(3)) == UserID(rawValue: 3))
    }
}

private func device(_ number: Int) -> DeviceDigest { DeviceToken(secret: "device \(number)").digest }

extension TokenLookup {
    /// Number of callers that wait.
    fileprivate var waiting: Int { state.withLock { $0.callers.count } }
}

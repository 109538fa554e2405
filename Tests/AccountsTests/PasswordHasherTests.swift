import Foundation
import Synchronization
import TestDatabase
import Testing

@testable import Accounts

@Suite struct `The threads that hash passwords` {
    /// Work that runs until it is let go, and the counts of its runs.
    private final class Gate: Sendable {
        let entered = Atomic<Int>(0)
        let passed = Atomic<Int>(0)
        private let semaphore = DispatchSemaphore(value: 0)

        func work() -> Bool {
            entered.add(1, ordering: .sequentiallyConsistent)
            // The threads are the hasher's own: they may block.
            semaphore.wait()
            passed.add(1, ordering: .sequentiallyConsistent)
            return true
        }

        func open(_ count: Int) { for _ in 0..<count { semaphore.signal() } }
        var enteredCount: Int { entered.load(ordering: .sequentiallyConsistent) }
        var passedCount: Int { passed.load(ordering: .sequentiallyConsistent) }
    }

    private static func submit(
        _ count: Int, to hasher: PasswordHasher, _ gate: Gate, for client: String = "a"
    ) -> [Task<Bool, any Error>] {
        (0..<count).map { _ in Task { try await hasher.run(for: client) { gate.work() } } }
    }

    @Test func `at most the limit of threads computes, the rest waits, and a client beyond its own limit is refused`()
        async throws
    {
        let (hasher, gate) = (PasswordHasher(parameters: .weak, threadLimit: 2, queueLimit: 3, clientLimit: 2), Gate())
        let tasks = Self.submit(2, to: hasher, gate)
        try await eventually { gate.enteredCount == 2 }
        let waiting = Self.submit(2, to: hasher, gate)
        try await eventually { hasher.waitingCount == 2 }
        await #expect(throws: PasswordHasherBusyError()) { try await hasher.run(for: "a") { gate.work() } }
        let other = Self.submit(1, to: hasher, gate, for: "b")
        try await eventually { hasher.waitingCount == 3 }
        #expect(gate.enteredCount == 2)
        gate.open(5)
        for task in tasks + waiting + other { #expect(try await task.value) }
        #expect((gate.enteredCount, gate.passedCount) == (5, 5))
    }

    @Test func `a cancelled caller leaves the queue, and the caller before it stays`() async throws {
        let (hasher, gate) = (PasswordHasher(parameters: .weak, threadLimit: 1, queueLimit: 2), Gate())
        let running = Self.submit(1, to: hasher, gate)
        try await eventually { gate.enteredCount == 1 }
        let first = Self.submit(1, to: hasher, gate)
        try await eventually { hasher.waitingCount == 1 }
        let second = Self.submit(1, to: hasher, gate)
        try await eventually { hasher.waitingCount == 2 }
        second[0].cancel()
        await #expect(throws: CancellationError.self) { try await second[0].value }
        #expect(hasher.waitingCount == 1)
        gate.open(2)
        for task in running + first { #expect(try await task.value) }
        #expect(gate.enteredCount == 2)
    }

    @Test func `a thread ends when no hash is wanted, and the limit holds afterwards`() async throws {
        let (hasher, gate) = (PasswordHasher(parameters: .weak, threadLimit: 1, queueLimit: 1), Gate())
        #expect(try await hasher.run(for: "a") { true })
        try await eventually { hasher.threadCount == 0 }
        let tasks = Self.submit(2, to: hasher, gate)
        try await eventually { (gate.enteredCount, hasher.waitingCount) == (1, 1) }
        gate.open(2)
        for task in tasks { #expect(try await task.value) }
    }

    #if os(Linux)
        @Test func `the threads have a low priority`() async throws {
            @Sendable func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
            let own = niceness()
            let threads = try await PasswordHasher(parameters: .weak).run(for: "a") { niceness() }
            // Only a privileged process may raise a priority again.
            #expect(threads == PasswordHasher.niceness || own > PasswordHasher.niceness && threads == own)
        }
    #endif

    @Test func `an error of the work is the caller's`() async throws {
        struct Refused: Error {}
        let hasher = PasswordHasher(parameters: .weak)
        await #expect(throws: Refused.self) { try await hasher.run(for: "a") { throw Refused() } }
    }

    @Test func `a password without a hash is hashed all the same, and is wrong`() async throws {
        let hasher = PasswordHasher(parameters: .weak)
        let hash = try await hasher.hash(#require(Password("correct horse")), salt: UUID(), for: "a")
        #expect(try await hasher.matches(#require(Password("correct horse")), hash, for: "a"))
        #expect(try await !hasher.matches(#require(Password("wrong")), hash, for: "a"))
        #expect(try await !hasher.matches(#require(Password("correct horse")), nil, for: "a"))
    }
}

extension PasswordHasher {
    fileprivate var waitingCount: Int { state.withLock { $0.waiting.count } }
    fileprivate var threadCount: Int { state.withLock { $0.threads } }
}

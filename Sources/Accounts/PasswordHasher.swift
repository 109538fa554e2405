internal import DequeModule
public import EventStore
internal import Foundation
internal import Synchronization

/// Computes password hashes on threads of its own, so that they block neither an event loop nor Swift's pool.
///
/// At most ``threadLimit`` hashes are computed at a time. With the current parameters they take 2 × 32 MiB = 64 MiB of memory. Stored
/// hashes with stronger parameters take at most 2 × 64 MiB = 128 MiB. The threads have a low priority, so that other requests get the
/// processor first. A thread ends when no hash is wanted.
package final class PasswordHasher: Sendable {
    /// The largest number of hashes that are computed at the same time.
    package static let threadLimit = 2
    /// The largest number of callers that wait for a thread; a further one is refused.
    package static let queueLimit = 32
    /// Linux gives a thread of this nice value about a third of the processor that it gives a thread of the value 0.
    static let niceness: Int32 = 5

    private struct Job: Sendable {
        var number: Int
        var compute: @Sendable () -> Void
        var cancel: @Sendable () -> Void
    }

    private struct State: Sendable {
        var waiting: Deque<Job> = []
        var threads = 0
        /// The number of the last caller.
        var number = 0

        /// The next job of a thread; `nil` ends the thread.
        mutating func next() -> Job? {
            let job = waiting.popFirst()
            if job == nil { threads -= 1 }
            return job
        }
    }

    private let state = Mutex(State())
    private let parameters: PasswordHash.Parameters
    private let threadLimit: Int
    private let queueLimit: Int

    package init(
        parameters: PasswordHash.Parameters = .current, threadLimit: Int = threadLimit, queueLimit: Int = queueLimit
    ) {
        (self.parameters, self.threadLimit, self.queueLimit) = (parameters, threadLimit, queueLimit)
    }

    /// Hashes a new password.
    /// - Throws: ``PasswordHasherBusyError``, `CancellationError`, an error of Crypto if the memory cannot be had
    func hash(_ password: Password, salt: UUID) async throws -> PasswordHash {
        let parameters = parameters
        let salt = withUnsafeBytes(of: salt.uuid) { Array($0) }
        return try await run { try PasswordHash(password, parameters: parameters, salt: salt) }
    }

    /// Whether a password belongs to a hash. Without a hash the result is `false`, after the same time as with one of the current
    /// parameters.
    /// - Throws: ``PasswordHasherBusyError``, `CancellationError`, an error of Crypto if the memory cannot be had
    func matches(_ password: Password, _ hash: PasswordHash?) async throws -> Bool {
        let parameters = parameters
        return try await run {
            if let hash { return try hash.matches(password) }
            _ = try PasswordHash(password, parameters: parameters, salt: Array(repeating: 0, count: PasswordHash.saltBytes))
            return false
        }
    }

    /// Whether the password of the hash should be hashed again.
    func isOutdated(_ hash: PasswordHash) -> Bool { hash.parameters.isWeaker(than: parameters) }

    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    number: number, compute: { continuation.resume(with: Result(catching: work)) },
                    cancel: { continuation.resume(throwing: CancellationError()) })
                // A new thread gets its first job directly: only callers that wait count as waiting.
                let (isTaken, needsThread) = state.withLock { state in
                    if state.threads < threadLimit {
                        state.threads += 1
                        return (true, true)
                    }
                    guard state.waiting.count < queueLimit else { return (false, false) }
                    state.waiting.append(job)
                    return (true, false)
                }
                guard isTaken else { return continuation.resume(throwing: PasswordHasherBusyError()) }
                if needsThread { startThread(with: job) }
                // The task may have been cancelled before the job was in the queue.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// The number of callers that wait for a thread.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
    var threadCount: Int { state.withLock { $0.threads } }

    private func giveUp(_ number: Int) {
        let job = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        job?.cancel()
    }

    private func startThread(with first: Job) {
        let thread = Thread { [self] in
            #if os(Linux)
                // On Linux this is the priority of the calling thread alone. A failure leaves it as it is.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            #endif
            first.compute()
            while let job = state.withLock({ $0.next() }) { job.compute() }
        }
        thread.name = "password"
        thread.start()
    }
}

/// Too many callers wait for a password's hash. The same request may succeed later.
public struct PasswordHasherBusyError: UnavailabilityError, Hashable, CustomStringConvertible {
    public var description: String { "too many callers wait for a password's hash" }
}

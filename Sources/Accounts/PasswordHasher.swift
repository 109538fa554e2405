internal import Encoding
public import EventStore
internal import Foundation
package import Hashing
internal import Synchronization

/// Computes password hashes on threads of its own, so that they block neither an event loop nor Swift's pool.
///
/// At most ``threadLimit`` hashes are computed at a time. The clients that wait have their turns in order, so that one client's many
/// sign-ins do not refuse another client's. With the current parameters they take 2 × 32 MiB = 64 MiB of memory. Stored
/// hashes with stronger parameters take at most 2 × 64 MiB = 128 MiB. The threads have a low priority, so that other requests get the
/// processor first. A thread ends when no hash is wanted.
package final class PasswordHasher: Sendable {
    /// The largest number of hashes that are computed at the same time.
    package static let threadLimit = 2
    /// The largest number of callers that wait for a thread. Beyond it, a caller takes the place of a client that has more callers, or
    /// is refused. All wait less than the 30 s that a response may take, and leave other requests most of the tasks of a server.
    package static let queueLimit = 64
    /// The largest number of callers of one client that wait; a further one is refused.
    package static let clientLimit = 16
    /// Linux gives a thread of this nice value about a third of the processor that it gives a thread of the value 0.
    static let niceness: Int32 = 5

    struct Job: Sendable {
        var number: Int
        var compute: @Sendable () -> Void
        var refuse: @Sendable (any Error) -> Void
    }

    struct State: Sendable {
        /// Callers that wait for a thread.
        var waiting: FairQueue<Job>
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

    let state: Mutex<State>
    private let parameters: Scrypt
    private let threadLimit: Int

    package init(
        parameters: Scrypt = .standard, threadLimit: Int = threadLimit, queueLimit: Int = queueLimit,
        clientLimit: Int = clientLimit
    ) {
        (self.parameters, self.threadLimit) = (parameters, threadLimit)
        state = Mutex(State(waiting: FairQueue(limit: queueLimit, clientLimit: clientLimit)))
    }

    /// Hashes a new password.
    /// - Parameter client: names the client; callers of one client share its place in the queue
    /// - Throws: ``PasswordHasherBusyError``, `CancellationError`, `ScryptError`
    func hash(_ password: Password, salt: UUID, for client: String) async throws -> PasswordHash {
        let parameters = parameters
        let salt = salt.bytes
        return try await run(for: client) { try PasswordHash(password, parameters: parameters, salt: salt) }
    }

    /// Whether a password belongs to a hash. Without a hash the result is `false`, after the same time as with one of the current
    /// parameters.
    /// - Parameter client: as of ``hash(_:salt:for:)``
    /// - Throws: ``PasswordHasherBusyError``, `CancellationError`, `ScryptError`
    func matches(_ password: Password, _ hash: PasswordHash?, for client: String) async throws -> Bool {
        let parameters = parameters
        return try await run(for: client) {
            if let hash { return try hash.matches(password) }
            _ = try PasswordHash(password, parameters: parameters, salt: Array(repeating: 0, count: PasswordHash.saltBytes))
            return false
        }
    }

    /// Whether the password of the hash should be hashed again.
    func isOutdated(_ hash: PasswordHash) -> Bool { hash.parameters.isWeaker(than: parameters) }

    func run<Value: Sendable>(for client: String, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    number: number, compute: { continuation.resume(with: Result(catching: work)) },
                    refuse: { continuation.resume(throwing: $0) })
                // A new thread gets its first job directly: only callers that wait count as waiting.
                let (refused, needsThread) = state.withLock { state -> (Job?, Bool) in
                    guard state.threads >= threadLimit else {
                        state.threads += 1
                        return (nil, true)
                    }
                    return (state.waiting.append(job, of: client), false)
                }
                refused?.refuse(PasswordHasherBusyError())
                if needsThread { startThread(with: job) }
                // The task may have been cancelled before the job was in the queue.
                if Task.isCancelled { giveUp(number, of: client) }
            }
        } onCancel: {
            giveUp(number, of: client)
        }
    }

    private func giveUp(_ number: Int, of client: String) {
        let job = state.withLock { $0.waiting.removeFirst(of: client) { $0.number == number } }
        job?.refuse(CancellationError())
    }

    private func startThread(with first: Job) {
        let thread = Thread { [self] in
            // On Linux this is the priority of the calling thread alone. A failure leaves it as it is.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
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

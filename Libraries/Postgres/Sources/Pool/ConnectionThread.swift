internal import CLibPQ
internal import DequeModule
internal import Foundation
internal import Synchronization

/// One libpq connection with a thread of its own. Callers queue jobs and await the answers; the jobs in the queue go out as one
/// pipeline. After the connection has ended, ``PostgresClient`` opens another one.
final class ConnectionThread: Sendable {
    private struct Inbox: Sendable {
        var jobs: Deque<Job> = []
        var isClosing = false
        var hasEnded = false
        var isWakeSent = false

        var takesJobs: Bool { !isClosing && !hasEnded }
    }

    /// Maximum number of unanswered jobs of different callers, so that a connection that hangs takes few callers with it.
    static let depthLimit = 32
    /// A connection without progress for this long gets no further job of another caller: another connection does it sooner.
    static let stallSeconds = 0.25

    private let inbox = Mutex(Inbox())
    private let wakePipe: WakePipe
    private let unanswered = Atomic<Int>(0)
    /// When PostgreSQL last answered, or a job came while none was unanswered: monotonic seconds, as their bits.
    private let progressAt = Atomic<UInt64>(0)
    /// Called on the connection's thread after jobs were answered.
    private let onProgress: @Sendable (ConnectionThread) -> Void
    private let endHandlers = Mutex<[@Sendable () -> Void]?>([])
    /// Not a closure: whenever one is taken out of a `Mutex` the compiler wraps it anew, and leaves the wrapped one inside.
    private let notifications = Mutex<AsyncStream<Notification>.Continuation?>(nil)
    private let cancelHandle = Mutex<CancelHandle?>(nil)

    private init(onProgress: @escaping @Sendable (ConnectionThread) -> Void) throws(PostgresError) {
        wakePipe = try WakePipe()
        self.onProgress = onProgress
    }

    /// How many jobs have no answer yet.
    var load: Int { unanswered.load(ordering: .relaxed) }

    /// Whether there are unanswered jobs and PostgreSQL has answered nothing for a while.
    func isStalled(at now: Double) -> Bool {
        load > 0 && now - Double(bitPattern: progressAt.load(ordering: .relaxed)) > Self.stallSeconds
    }

    /// Opens a connection on a new thread.
    /// - Parameter onProgress: is called on that thread after jobs were answered
    /// - Throws: ``PostgresError``, or `CancellationError`
    static func open(
        _ configuration: PostgresConfiguration, onProgress: @escaping @Sendable (ConnectionThread) -> Void = { _ in }
    ) async throws -> ConnectionThread {
        let connection = try ConnectionThread(onProgress: onProgress)
        let parameters = try configuration.connectionParameters()
        let opened = Reply<Void>()
        let thread = Thread {
            let session: Session
            do throws(PostgresError) {
                session = try Session(
                    configuration,
                    parameters: parameters,
                    wakePipe: connection.wakePipe,
                    isAbandoned: { opened.isResolved }
                )
            } catch {
                opened.resolve(.failure(error))
                return
            }
            connection.cancelHandle.withLock { $0 = session.connection.makeCancelHandle() }
            opened.resolve(.success(()))
            session.run(serving: connection)
            connection.finish()
        }
        thread.name = "postgres"
        thread.start()
        do {
            try await opened.value(onCancel: { connection.wakePipe.wake() })
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Whether this side has ended it, or is about to.
    var isClosing: Bool { inbox.withLock { $0.isClosing } }

    /// False once the connection is closing or has ended.
    var takesJobs: Bool { inbox.withLock { $0.takesJobs } }

    func perform(_ job: Job, onCancel: @escaping @Sendable () -> Void = {}) async throws -> [Rows] {
        guard enqueue(job) else { throw PostgresError.connectionLost(mayHaveRun: false) }
        wake()
        return try await job.reply.value(onCancel: { [self] in
            onCancel()
            // A cancelled caller shortens the thread's wait for the answer.
            wakePipe.wake()
        })
    }

    /// Queues a job, which waits for the next ``wake()``; false where none are taken.
    func enqueue(_ job: Job) -> Bool {
        inbox.withLock { inbox in
            guard inbox.takesJobs else { return false }
            inbox.jobs.append(job)
            if unanswered.add(1, ordering: .relaxed).oldValue == 0 { progressed(at: monotonicSeconds()) }
            return true
        }
    }

    func wake() {
        let isSent = inbox.withLock { inbox in
            defer { inbox.isWakeSent = true }
            return inbox.isWakeSent
        }
        if !isSent { wakePipe.wake() }
    }

    /// Asks PostgreSQL to cancel the running statement. The connection must be leased, because the statement of another caller
    /// could run.
    func cancelRunningStatement() {
        cancelHandle.withLock { $0 }?.cancel(withinSeconds: 0)
    }

    /// Closes the connection after the queued jobs are answered.
    func close() {
        inbox.withLock { $0.isClosing = true }
        wakePipe.wake()
    }

    /// Calls the handler when the connection has been closed or has broken; immediately if that was earlier.
    func whenEnded(_ handler: @escaping @Sendable () -> Void) {
        let hasEnded = endHandlers.withLock { handlers in
            handlers?.append(handler)
            return handlers == nil
        }
        if hasEnded { handler() }
    }

    func passNotifications(to continuation: AsyncStream<Notification>.Continuation?) {
        notifications.withLock { $0 = continuation }
    }

    // MARK: From the connection's own thread

    func takeJobs() -> (jobs: Deque<Job>, isClosing: Bool) {
        inbox.withLock { inbox in
            inbox.isWakeSent = false
            defer { inbox.jobs = [] }
            return (inbox.jobs, inbox.isClosing)
        }
    }

    /// The jobs in the queue stay there until the end of the connection.
    func takeNoMoreJobs() { inbox.withLock { $0.hasEnded = true } }

    func answer(_ job: Job, with result: Result<[Rows], any Error>) {
        unanswered.subtract(1, ordering: .relaxed)
        job.reply.resolve(result)
    }

    func progressed(at now: Double) { progressAt.store(now.bitPattern, ordering: .relaxed) }

    /// To be called after jobs were answered.
    func hasRoom() { onProgress(self) }

    func notify(_ notification: Notification) { notifications.withLock { $0 }?.yield(notification) }

    private func finish() {
        let left = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.jobs = [] }
            return inbox.jobs
        }
        for job in left { answer(job, with: .failure(PostgresError.connectionLost(mayHaveRun: false))) }
        cancelHandle.withLock { $0 = nil }
        let handlers = endHandlers.withLock { handlers in
            defer { handlers = nil }
            return handlers ?? []
        }
        for handler in handlers { handler() }
    }
}

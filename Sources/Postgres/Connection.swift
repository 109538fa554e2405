internal import CLibPQ
internal import DequeModule
internal import Foundation
internal import Synchronization

/// One piece of work for a connection, done whole before the next one's answers are read.
struct Job: Sendable {
    enum Work: Sendable {
        /// Statements that go out together and are one transaction: all of them or none.
        case pipeline([SQL])
        /// Several statements in one text, by the simple protocol; answers no rows.
        case script(String)
        /// Hands each row to the closure, on the connection's thread.
        case copyOut(String, row: @Sendable (UnsafeRawBufferPointer) throws -> Void)
        /// Takes pieces of the data from the closure, on the connection's thread, until it gives nil.
        case copyIn(String, next: @Sendable () throws -> [UInt8]?)
    }

    var work: Work
    /// nil: as long as it takes.
    var timeoutSeconds: Double?
    let reply = Reply<[Rows]>()
}

/// One libpq connection, which a thread of its own owns. Work is queued here and the answer awaited; what has queued up goes
/// out as one pipeline. It is not reopened: once it has ended, ``PostgresClient`` opens another.
final class Connection: Sendable {
    private struct Inbox: Sendable {
        var jobs: Deque<Job> = []
        var isClosing = false
        var hasEnded = false
        var isWakeSent = false

        var takesJobs: Bool { !isClosing && !hasEnded }
    }

    private let inbox = Mutex(Inbox())
    private let wakePipe: WakePipe
    private let unanswered = Atomic<Int>(0)
    private let endHandlers = Mutex<[@Sendable () -> Void]?>([])
    /// Not a closure: whenever one is taken out of a `Mutex` the compiler wraps it anew, and leaves the wrapped one inside.
    private let notifications = Mutex<AsyncStream<Notification>.Continuation?>(nil)
    private let cancelHandle = Mutex<CancelHandle?>(nil)

    private init() throws(PostgresError) { wakePipe = try WakePipe() }

    /// How many jobs have no answer yet.
    var load: Int { unanswered.load(ordering: .relaxed) }

    /// Opens a connection on a new thread.
    static func open(_ configuration: PostgresConfiguration) async throws -> Connection {
        let connection = try Connection()
        let parameters = try configuration.connectionParameters()
        let opened = Reply<Void>()
        let thread = Thread {
            let session: Session
            do throws(PostgresError) {
                session = try Session(
                    parameters: parameters,
                    preparesStatements: !configuration.isPooled,
                    timeoutSeconds: Double(configuration.connectTimeoutSeconds),
                    wakePipe: connection.wakePipe,
                    isAbandoned: { opened.isResolved }
                )
            } catch {
                opened.resolve(.failure(error))
                return
            }
            connection.cancelHandle.withLock { $0 = session.makeCancelHandle() }
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
        return try await job.reply.value(onCancel: onCancel)
    }

    /// Queues a job, which waits for the next ``wake()``; false where none are taken.
    func enqueue(_ job: Job) -> Bool {
        inbox.withLock { inbox in
            guard inbox.takesJobs else { return false }
            inbox.jobs.append(job)
            unanswered.add(1, ordering: .relaxed)
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

    /// Asks PostgreSQL to cancel what runs on this connection now; only for a connection that nobody shares.
    func cancelRunningStatement() {
        cancelHandle.withLock { $0 }?.cancelOnItsOwnThread()
    }

    /// Closes after what has been queued is answered.
    func close() {
        inbox.withLock { $0.isClosing = true }
        wakePipe.wake()
    }

    /// Calls the handler when the connection has been closed or has broken; at once if that is so already.
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

    func answer(_ job: Job, with result: Result<[Rows], any Error>) {
        unanswered.subtract(1, ordering: .relaxed)
        job.reply.resolve(result)
    }

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

/// `@unchecked`: libpq's cancel object is never changed after it was made, and `PQcancel` may be called from any thread.
final class CancelHandle: @unchecked Sendable {
    private let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit { PQfreeCancel(handle) }

    /// Returns when PostgreSQL has passed the request on.
    func cancel() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }

    /// `PQcancel` opens a connection and waits, so it must not run on the cooperative pool.
    func cancelOnItsOwnThread() { Thread { [self] in cancel() }.start() }
}

/// Wakes a thread that sleeps in `poll`.
final class WakePipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(PostgresError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .unavailable(reason: "no pipe to be had: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        Foundation.close(readEnd)
        Foundation.close(writeEnd)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) > 0 {}
    }
}

internal import Foundation
internal import Synchronization

/// One libpq connection with a thread of its own, as other threads know it: the thread runs its ``Session``, which pulls jobs from
/// the queue of the ``PostgresClient`` and sends them as one pipeline. After its end the client opens another one.
final class ConnectionThread: Sendable {
    /// Maximum number of unanswered jobs of different callers, so that a connection that hangs takes few callers with it.
    static let depthLimit = 32
    /// A connection without progress for this long gets no further job of another caller: another connection does it sooner.
    static let stallSeconds = 0.25
    /// How long a cancelled attempt to connect may go on, so that PostgreSQL sees the end of a session and not a handshake that breaks off.
    static let leavingSeconds = 1.0

    /// Wakes the thread, which sleeps in `poll`.
    private let pipe: (readEnd: Int32, writeEnd: Int32)
    /// Resolved when the connection is closed, its socket too: after that the process may end.
    let ended = Reply<Void>()
    private let unanswered = Atomic<Int>(0)
    /// When PostgreSQL last answered, or a job came while none was unanswered: monotonic seconds, as their bits.
    private let progressAt = Atomic<UInt64>(0)
    /// Not a closure: whenever one is taken out of a `Mutex` the compiler wraps it anew, and leaves the wrapped one inside.
    private let notifications = Mutex<AsyncStream<Notification>.Continuation?>(nil)
    private let cancelHandle = Mutex<CancelHandle?>(nil)
    private let spoiled = Atomic(false)

    init() throws(PostgresError) {
        guard let ends = SystemCalls.makePipe() else {
            throw .unavailable(reason: "no pipe to be had: \(SystemCalls.reason)")
        }
        for end in [ends.readEnd, ends.writeEnd] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        pipe = ends
    }

    deinit {
        Foundation.close(pipe.readEnd)
        Foundation.close(pipe.writeEnd)
    }

    /// Opens a connection on a new thread. A cancelled attempt is waited for, for ``leavingSeconds`` at most.
    /// - Parameter serve: uses the session on that thread, until its end
    /// - Throws: ``PostgresError``, or `CancellationError`
    static func open(
        _ configuration: PostgresConfiguration, serve: @escaping @Sendable (Session) -> Void = { _ in }
    ) async throws -> ConnectionThread {
        let connection = try ConnectionThread()
        let parameters = try configuration.connectionParameters()
        let opened = Reply<Void>()
        let thread = Thread {
            connection.withSession(configuration, parameters, opened: opened, serve)
            connection.finish()
        }
        thread.name = "postgres"
        thread.start()
        do { try await opened.value(onCancel: { connection.wake() }) } catch {
            await connection.untilEnd(withinSeconds: Self.leavingSeconds)
            throw error
        }
        return connection
    }

    /// Also waits in a cancelled task. To be called once, and not by the user of an open connection.
    private func untilEnd(withinSeconds seconds: Double) async {
        // libpq may block in the search for the host's address.
        let limit = Task {
            try await Task.sleep(for: .seconds(seconds))
            ended.resolve(.success(()))
        }
        _ = await Task { try? await ended.value() }.value
        limit.cancel()
    }

    /// How many jobs that were given to the connection have no answer yet.
    var load: Int { unanswered.load(ordering: .relaxed) }

    /// Whether there are unanswered jobs and PostgreSQL has answered nothing for a while.
    func isStalled(at now: Double) -> Bool {
        load > 0 && now - Double(bitPattern: progressAt.load(ordering: .relaxed)) > Self.stallSeconds
    }

    /// To be called before the connection gets the jobs.
    func expect(_ jobs: Int) {
        guard jobs > 0, unanswered.add(jobs, ordering: .relaxed).oldValue == 0 else { return }
        progressed(at: monotonicSeconds())
    }

    /// Has the connection's thread look for jobs.
    func wake() { _ = SystemCalls.write([0], to: pipe.writeEnd) }

    /// Asks PostgreSQL to cancel the running statement. The connection must be leased, because the statement of another caller
    /// could run.
    func cancelRunningStatement() {
        cancelHandle.withLock { $0 }?.cancel(withinSeconds: 0)
    }

    /// Whether no other caller may get the connection: a request to cancel a statement may still be on its way, or PostgreSQL was silent
    /// for too long.
    var isSpoiled: Bool { spoiled.load(ordering: .relaxed) }

    func spoil() { spoiled.store(true, ordering: .relaxed) }

    func passNotifications(to continuation: AsyncStream<Notification>.Continuation?) {
        notifications.withLock { $0 = continuation }
    }

    // MARK: From the connection's own thread

    /// Readable after a ``wake()``.
    var wakeDescriptor: Int32 { pipe.readEnd }

    func drainWakes() { while SystemCalls.drop(from: pipe.readEnd) > 0 {} }

    func answer(_ job: Job, with result: Result<[Rows], any Error>) {
        unanswered.subtract(1, ordering: .relaxed)
        job.reply.resolve(result.map { (rows: $0, connection: self) })
    }

    func progressed(at now: Double) { progressAt.store(now.bitPattern, ordering: .relaxed) }

    func notify(_ notification: Notification) { notifications.withLock { $0 }?.yield(notification) }

    /// Opens the session and closes it before it returns: over TLS, PostgreSQL takes a socket that closes without a word for a broken one.
    /// - Parameter opened: resolved when the session is open or has failed to open; cancelled if nobody needs it any more
    private func withSession(
        _ configuration: PostgresConfiguration, _ parameters: [(keyword: String, value: String)], opened: Reply<Void>,
        _ body: (Session) -> Void
    ) {
        let session: Session
        do throws(PostgresError) {
            session = try Session(configuration, parameters: parameters, front: self, isAbandoned: { opened.isResolved })
        } catch {
            opened.resolve(.failure(error))
            return
        }
        cancelHandle.withLock { $0 = session.connection.makeCancelHandle() }
        if opened.resolve(.success(())) { body(session) }
    }

    private func finish() {
        cancelHandle.withLock { $0 = nil }
        notifications.withLock { $0 }?.finish()
        ended.resolve(.success(()))
    }
}

internal import CLibPQ
internal import DequeModule
internal import Foundation

/// The thread's side of a connection: all calls to libpq, and nothing that another thread may touch.
final class Session {
    /// What libpq will answer for a job, in order.
    enum Step {
        case prepare(PreparedStatement)
        case execute
        case sync
    }

    struct InFlight {
        var job: Job
        var steps: Deque<Step>
        var rows: [Rows] = []
        var failure: PostgresError?
        /// Whether libpq has given a result of the first step and only its end is still to come.
        var hasResult = false
        /// Whether the job's deadline has passed, and its caller was answered that.
        var isOverdue = false
        /// Whether the job is this side's own, so that no caller waits for its answer.
        var isOwn = false
        /// Whether PostgreSQL has committed without the synchronous standbys.
        var isUnreplicated = false
    }

    /// The same text is another statement with parameters of other types.
    struct PreparedStatement: Hashable {
        var text: String
        var types: [UInt32]
    }

    private static let longestPollMilliseconds = 60_000.0

    /// Maximum number of prepared statements; further ones are sent unprepared. The program has far fewer.
    static let preparedStatementLimit = 256

    let connection: PQConnection
    let configuration: PostgresConfiguration
    /// The connection as other threads know it.
    let front: ConnectionThread
    /// The names under which statements are prepared.
    var prepared: [PreparedStatement: String] = [:]
    var statementNumber = 0
    var inFlight: Deque<InFlight> = []
    /// Jobs that are not sent yet.
    private(set) var waiting: Deque<Job> = []
    /// Whether ``send()`` has answered jobs.
    private var hasAnswered = false
    /// The time of PostgreSQL's last answer, or of the begin of the first statement in flight.
    var progressAt = 0.0
    /// PostgreSQL said unasked that it ends this session; it will run nothing more.
    var isGoingAway = false

    /// Connects, or says why not.
    /// - Parameter isAbandoned: whether nobody needs the session any more. Its handshake goes on for a moment all the same.
    init(
        _ configuration: PostgresConfiguration,
        parameters: [(keyword: String, value: String)],
        front: ConnectionThread,
        isAbandoned: () -> Bool
    ) throws(PostgresError) {
        self.front = front
        self.configuration = configuration
        guard let started = PQConnection(parameters) else { throw .unavailable(reason: "libpq has no memory left") }
        connection = started
        var deadline = monotonicSeconds() + Double(configuration.connectTimeoutSeconds)
        var state = PGRES_POLLING_WRITING
        var isLeaving = false
        while connection.status != CONNECTION_BAD, monotonicSeconds() < deadline {
            if !isLeaving, isAbandoned() {
                // PostgreSQL has got nothing yet.
                if connection.status == CONNECTION_STARTED { break }
                // It logs an error if a handshake breaks off, or if a socket closes with answers that nobody has read.
                isLeaving = true
                deadline = min(deadline, monotonicSeconds() + ConnectionThread.leavingSeconds)
            }
            let events = state == PGRES_POLLING_READING ? Int16(POLLIN) : Int16(POLLOUT)
            guard poll(events: events, untilDeadline: deadline) else { continue }
            state = connection.poll()
            if state == PGRES_POLLING_OK, isAbandoned() { break }
            if state == PGRES_POLLING_OK, connection.becomeNonblocking(), connection.enterPipelineMode() {
                connection.passNotices(to: self)
                enlargeSendBuffer()
                guard limitTransactions() else { break }
                if let niceness = configuration.niceness { ServerProcess(of: connection)?.lowerPriority(toNiceness: niceness) }
                progressAt = monotonicSeconds()
                return
            }
            if state == PGRES_POLLING_FAILED { break }
        }
        let failed = connection.status == CONNECTION_BAD
        throw .unavailable(reason: failed ? errorMessage : "no answer within \(configuration.connectTimeoutSeconds) s")
    }

    /// Serves jobs until the connection closes or breaks.
    /// - Returns: why statements in flight got no answer: they may or may not have run
    func run(pulling pull: () -> (jobs: Deque<Job>, isClosing: Bool)) -> PostgresError {
        while true {
            let (jobs, isClosing) = pull()
            waiting.append(contentsOf: jobs)
            // PostgreSQL may have ended the session since the last look. Jobs that are not sent yet can run on another connection.
            if inFlight.isEmpty, !waiting.isEmpty, !receive() { break }
            hasAnswered = false
            guard send() else { break }
            // The jobs that this has made room for go out with the rest.
            if hasAnswered { continue }
            if isClosing, inFlight.isEmpty, waiting.isEmpty { break }
            let flushed = connection.flush()
            guard flushed >= 0 else { break }
            let deadline = nextDeadline
            poll(events: Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0), untilDeadline: deadline)
            guard receive() else { break }
            if deadline <= monotonicSeconds(), !keepDeadlines() { return .deadlineExceeded(mayHaveRun: true) }
        }
        return .connectionLost(mayHaveRun: true)
    }

    /// Answers everything after the end.
    /// - Parameter unsent: jobs that no other connection may do
    func fail(inFlight reason: PostgresError, unsent: Deque<Job>) {
        for entry in inFlight where !entry.isOwn { front.answer(entry.job, with: .failure(reason)) }
        for job in unsent { front.answer(job, with: .failure(PostgresError.connectionLost(mayHaveRun: false))) }
    }

    private func answer(_ job: Job, with result: Result<[Rows], any Error>) {
        hasAnswered = true
        front.answer(job, with: result)
    }

    // MARK: Sending

    /// False when the connection is no longer usable.
    private func send() -> Bool {
        while let job = waiting.first {
            // Cancelled, or too late.
            guard !job.reply.isResolved, monotonicSeconds() < job.deadline else {
                waiting.removeFirst()
                answer(job, with: .failure(PostgresError.deadlineExceeded(mayHaveRun: false)))
                continue
            }
            if case .pipeline(let statements) = job.work {
                waiting.removeFirst()
                let steps = queue(statements)
                if inFlight.isEmpty { progressAt = monotonicSeconds() }
                inFlight.append(InFlight(job: job, steps: steps ?? []))
                guard steps != nil else { return false }
            } else {
                guard inFlight.isEmpty else { return true }
                waiting.removeFirst()
                let (result, isUsable) = performOutsidePipeline(job)
                progressAt = monotonicSeconds()
                answer(job, with: result)
                guard isUsable else { return false }
            }
        }
        return true
    }

    // MARK: Receiving

    /// - Returns: whether the connection is usable
    private func receive() -> Bool {
        let isOpen = connection.consumeInput()
        readResults()
        readNotifications()
        return isOpen && connection.status == CONNECTION_OK && !isGoingAway
    }

    private func readResults() {
        let before = progressAt
        defer { if progressAt != before { front.progressed(at: progressAt) } }
        while !inFlight.isEmpty, !connection.isBusy {
            guard let result = connection.nextResult() else {
                guard inFlight[0].hasResult else { return }
                inFlight[0].hasResult = false
                _ = inFlight[0].steps.popFirst()
                continue
            }
            read(result)
            progressAt = monotonicSeconds()
        }
    }

    private func read(_ result: consuming PQResult) {
        inFlight[0].hasResult = true
        switch result.status {
        case PGRES_PIPELINE_SYNC:
            let entry = inFlight.removeFirst()
            guard !entry.isOwn else { return }
            let failure = entry.failure ?? (entry.isUnreplicated ? .unreplicated : nil)
            answer(entry.job, with: failure.map { .failure($0) } ?? .success(entry.rows))
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .execute = inFlight[0].steps.first { inFlight[0].rows.append(Rows(result)) }
        case PGRES_PIPELINE_ABORTED:
            forgetPreparedStatement()
        case _:
            if inFlight[0].failure == nil { inFlight[0].failure = failure(of: result) }
            forgetPreparedStatement()
        }
    }

    /// Forgets a statement after its preparation failed or was skipped. Its name is not used again.
    private func forgetPreparedStatement() {
        guard case .prepare(let statement) = inFlight[0].steps.first else { return }
        prepared[statement] = nil
    }

    func failure(of result: borrowing PQResult) -> PostgresError {
        result.errorField("V") == "ERROR" ? .refused(PostgresError.ServerError(result)) : .connectionLost(mayHaveRun: true)
    }

    private func readNotifications() {
        while let notification = connection.nextNotification() { front.notify(notification) }
    }

    // MARK: Waiting

    /// True when libpq's socket is ready; false after a wake, a signal, the deadline or ``longestPollMilliseconds``.
    @discardableResult
    func poll(events: Int16, untilDeadline deadline: Double) -> Bool {
        var descriptors = [
            pollfd(fd: connection.socket, events: events, revents: 0),
            pollfd(fd: front.wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = min(max(0, (deadline - monotonicSeconds()) * 1_000 + 1), Self.longestPollMilliseconds)
        guard SystemCalls.wait(for: &descriptors, milliseconds: Int32(milliseconds)) > 0 else { return false }
        if descriptors[1].revents != 0 { front.drainWakes() }
        return descriptors[0].revents != 0
    }

    private var errorMessage: String {
        connection.errorMessage.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

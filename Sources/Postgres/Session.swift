internal import CLibPQ
internal import DequeModule
internal import Foundation

/// The thread's side of a connection: all calls to libpq, and nothing that another thread may touch.
final class Session {
    /// What libpq will answer for a job, in order.
    private enum Step {
        case prepare(PreparedStatement)
        case execute
        case sync
    }

    private struct InFlight {
        var job: Job
        var steps: Deque<Step>
        var rows: [Rows] = []
        var failure: PostgresError?
        /// Whether libpq has given a result of the first step and only its end is still to come.
        var hasResult = false
    }

    /// The same text is another statement with parameters of other types.
    private struct PreparedStatement: Hashable {
        var text: String
        var types: [UInt32]
    }

    /// How long this side waits for the server to end a statement that takes too long.
    private static let graceSeconds = 1.0

    /// Beyond so many different statements the rest are not prepared; the program has far fewer.
    private static let preparedStatementLimit = 256

    let connection: OpaquePointer
    private let wakePipe: WakePipe
    private let preparesStatements: Bool
    /// The names under which statements are prepared.
    private var prepared: [PreparedStatement: String] = [:]
    private var statementNumber = 0
    private var inFlight: Deque<InFlight> = []
    private var waiting: Deque<Job> = []
    /// When PostgreSQL last answered, or got to work on the first of what is in flight.
    private var progressAt = 0.0
    /// PostgreSQL said unasked that it ends this session; it will run nothing more.
    private var isGoingAway = false

    /// Connects, or says why not.
    init(
        parameters: [(keyword: String, value: String)],
        preparesStatements: Bool,
        timeoutSeconds: Double,
        wakePipe: WakePipe,
        isAbandoned: () -> Bool
    ) throws(PostgresError) {
        self.wakePipe = wakePipe
        self.preparesStatements = preparesStatements
        let started = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectStartParams(keywords, values, 1) }
        }
        guard let started else { throw .unavailable(reason: "libpq has no memory left") }
        connection = started
        let deadline = monotonicSeconds() + timeoutSeconds
        var state = PGRES_POLLING_WRITING
        while PQstatus(connection) != CONNECTION_BAD, !isAbandoned(), monotonicSeconds() < deadline {
            let events = state == PGRES_POLLING_READING ? Int16(POLLIN) : Int16(POLLOUT)
            guard poll(events: events, untilDeadline: deadline) else { continue }
            state = PQconnectPoll(connection)
            if state == PGRES_POLLING_OK, PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 {
                receiveNotices()
                return
            }
            if state == PGRES_POLLING_FAILED { break }
        }
        let failed = PQstatus(connection) == CONNECTION_BAD
        throw .unavailable(reason: failed ? errorMessage : "no answer within \(Int(timeoutSeconds)) s")
    }

    deinit { PQfinish(connection) }

    func makeCancelHandle() -> CancelHandle? { CancelHandle(connection) }

    /// Serves jobs until the connection is closed or breaks; what is then in flight may or may not have run.
    func run(serving front: Connection) {
        while true {
            let (jobs, isClosing) = front.takeJobs()
            waiting.append(contentsOf: jobs)
            guard send(front: front) else { break }
            if isClosing, inFlight.isEmpty, waiting.isEmpty { break }
            let flushed = PQflush(connection)
            guard flushed >= 0 else { break }
            let deadline = inFlight.first?.job.timeoutSeconds.map { progressAt + $0 + Self.graceSeconds }
            let isReady = poll(events: Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0), untilDeadline: deadline)
            if !isReady, let deadline, deadline <= monotonicSeconds() { break }
            guard PQconsumeInput(connection) == 1 else {
                readResults(front: front)
                break
            }
            readResults(front: front)
            readNotifications(front: front)
            guard PQstatus(connection) == CONNECTION_OK, !isGoingAway else { break }
        }
        for entry in inFlight {
            front.answer(entry.job, with: .failure(PostgresError.connectionLost(mayHaveRun: true)))
        }
        for job in waiting {
            front.answer(job, with: .failure(PostgresError.connectionLost(mayHaveRun: false)))
        }
    }

    // MARK: Sending

    /// False when the connection is no longer usable.
    private func send(front: Connection) -> Bool {
        while let job = waiting.first {
            guard !job.reply.isResolved else {
                waiting.removeFirst()
                front.answer(job, with: .failure(CancellationError()))
                continue
            }
            if case .pipeline(let statements) = job.work {
                waiting.removeFirst()
                var steps: Deque<Step> = []
                let isSent = statements.allSatisfy { send($0, steps: &steps) } && PQpipelineSync(connection) == 1
                steps.append(.sync)
                if inFlight.isEmpty { progressAt = monotonicSeconds() }
                inFlight.append(InFlight(job: job, steps: steps))
                guard isSent else { return false }
            } else {
                guard inFlight.isEmpty else { return true }
                waiting.removeFirst()
                guard performOutsidePipeline(job, front: front) else { return false }
            }
        }
        return true
    }

    private func send(_ statement: SQL, steps: inout Deque<Step>) -> Bool {
        let parameters = statement.parameters
        let types = parameters.slots.map(\.type)
        let lengths = parameters.slots.map { Int32($0.length ?? 0) }
        let formats = [Int32](repeating: 1, count: types.count)
        let name = preparedName(for: statement, types: types, steps: &steps)
        steps.append(.execute)
        return parameters.bytes.withUnsafeBytes { buffer in
            // An empty buffer has no address, and a null address would be NULL to libpq: an empty value needs another one.
            let base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = parameters.slots.map { slot in
                slot.length == nil ? nil : base.map { ($0 + slot.offset).assumingMemoryBound(to: CChar.self) }
            }
            let count = Int32(types.count)
            if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1 }
            return PQsendQueryParams(connection, statement.text, count, types, values, lengths, formats, 1) == 1
        }
    }

    /// The name under which the statement is or is about to be prepared; nil when it goes without.
    private func preparedName(for statement: SQL, types: [UInt32], steps: inout Deque<Step>) -> String? {
        let key = PreparedStatement(text: statement.text, types: types)
        if let name = prepared[key] { return name }
        guard preparesStatements, prepared.count < Self.preparedStatementLimit else { return nil }
        let name = "s\(statementNumber)"
        statementNumber += 1
        guard PQsendPrepare(connection, name, statement.text, Int32(types.count), types) == 1 else { return nil }
        prepared[key] = name
        steps.append(.prepare(key))
        return name
    }

    // MARK: Receiving

    private func readResults(front: Connection) {
        while !inFlight.isEmpty, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                guard inFlight[0].hasResult else { return }
                inFlight[0].hasResult = false
                _ = inFlight[0].steps.popFirst()
                continue
            }
            read(result, front: front)
            progressAt = monotonicSeconds()
        }
    }

    private func read(_ result: OpaquePointer, front: Connection) {
        inFlight[0].hasResult = true
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            let entry = inFlight.removeFirst()
            front.answer(entry.job, with: entry.failure.map { .failure($0) } ?? .success(entry.rows))
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .execute = inFlight[0].steps.first { inFlight[0].rows.append(Rows(result)) } else { PQclear(result) }
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            forgetPreparedStatement()
        case _:
            if inFlight[0].failure == nil { inFlight[0].failure = failure(of: result) }
            PQclear(result)
            forgetPreparedStatement()
        }
    }

    /// The statement whose preparation just failed or was skipped is not there; its name is not given out again.
    private func forgetPreparedStatement() {
        guard case .prepare(let statement) = inFlight[0].steps.first else { return }
        prepared[statement] = nil
    }

    func failure(of result: OpaquePointer) -> PostgresError {
        guard let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))), String(cString: severity) == "ERROR" else {
            return .connectionLost(mayHaveRun: true)
        }
        return .refused(PostgresError.Refusal(result: result))
    }

    /// Notices are dropped, but for the one with which PostgreSQL ends an idle session: what is queued by then is safe to send
    /// on another connection.
    private func receiveNotices() {
        PQsetNoticeReceiver(
            connection,
            { session, notice in
                guard let session, let severity = PQresultErrorField(notice, Int32(UInt8(ascii: "V"))) else { return }
                guard ["FATAL", "PANIC"].contains(String(cString: severity)) else { return }
                Unmanaged<Session>.fromOpaque(session).takeUnretainedValue().isGoingAway = true
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func readNotifications(front: Connection) {
        while let notification = PQnotifies(connection) {
            front.notify(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)
                )
            )
            PQfreemem(notification)
        }
    }

    // MARK: Waiting

    /// True when libpq's socket is ready; false after a wake, a signal or the deadline.
    private func poll(events: Int16, untilDeadline deadline: Double?) -> Bool {
        var descriptors = [
            pollfd(fd: PQsocket(connection), events: events, revents: 0),
            pollfd(fd: wakePipe.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = deadline.map { Int32(min(max(0, ($0 - monotonicSeconds()) * 1_000 + 1), 60_000)) } ?? -1
        guard Foundation.poll(&descriptors, 2, milliseconds) > 0 else { return false }
        if descriptors[1].revents != 0 { wakePipe.drain() }
        return descriptors[0].revents != 0
    }

    private var errorMessage: String {
        String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

private func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Lends the strings as a null-terminated array of C strings.
private func withCStrings<Value>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value) -> Value {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("an array that ends in nil is not empty") }
        return body(base)
    }
}

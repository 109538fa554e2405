internal import CLibPQ
internal import Foundation

/// Work that libpq does not do in a pipeline. It blocks the connection's thread, which is there for that, but never in libpq:
/// every wait is for the socket, and ends at a deadline.
extension Session {
    /// How long PostgreSQL may take to pass on a request to cancel.
    private static let cancelSeconds = 5.0

    /// - Returns: what the caller is answered, and whether the connection is still usable
    func performOutsidePipeline(_ job: Job) -> (result: Result<[Rows], any Error>, isUsable: Bool) {
        guard connection.exitPipelineMode() else {
            return (.failure(PostgresError.connectionLost(mayHaveRun: false)), false)
        }
        let result: Result<[Rows], any Error>
        do {
            switch job.work {
            case .pipeline, .lease: preconditionFailure("only what the pipeline cannot do is done outside of it")
            case .script(let text):
                try start(text)
                try drain(job)
            case .copyOut(let text, let row): try copyOut(text, job, row: row)
            case .copyIn(let text, let next): try copyIn(text, job, next: next)
            }
            result = .success([])
        } catch {
            result = .failure(error)
        }
        // libpq refuses while a statement is under way.
        return (result, connection.status == CONNECTION_OK && connection.enterPipelineMode())
    }

    private func copyOut(_ text: String, _ job: Job, row: (RawSpan) throws -> Void) throws {
        try startCopy(text, job, expecting: PGRES_COPY_OUT)
        var thrown: (any Error)?
        // Before the first row PostgreSQL may have to sort all of them.
        var stallSeconds = job.stallSeconds
        while true {
            var failure: (any Error)?
            let length = connection.copyRow { bytes in
                guard thrown == nil else { return }
                do { try row(bytes) } catch { failure = error }
            }
            guard length >= 0 else { break }
            guard length > 0 else {
                try waitForInput(job, stallSeconds: stallSeconds)
                continue
            }
            stallSeconds = configuration.copyStallSeconds
            if let failure {
                thrown = failure
                // Awaited: a late request would hit the next statement.
                guard connection.makeCancelHandle()?.cancel(withinSeconds: Self.cancelSeconds) == true else { throw failure }
            }
        }
        let ended = Result { try drain(job) }
        if let thrown { throw thrown }
        try ended.get()
    }

    private func copyIn(_ text: String, _ job: Job, next: () throws -> [UInt8]?) throws {
        try startCopy(text, job, expecting: PGRES_COPY_IN)
        var thrown: (any Error)?
        var isAnswered = false
        while !isAnswered {
            let piece: [UInt8]?
            do { piece = try next() } catch {
                thrown = error
                break
            }
            guard let piece else { break }
            // Asked before as well: once the socket is full, libpq reads what PostgreSQL answers, and keeps it.
            isAnswered = poll(events: Int16(POLLIN), untilDeadline: 0)
            guard !isAnswered else { break }
            guard connection.copy(piece) else { throw PostgresError.connectionLost(mayHaveRun: false) }
            // libpq would keep what the socket does not take, however much it is.
            isAnswered = try !flushUnlessAnswered(job)
        }
        guard connection.endCopy(error: thrown == nil && !isAnswered ? nil : "the data end early") else {
            throw thrown ?? PostgresError.connectionLost(mayHaveRun: true)
        }
        let ended = Result { try drain(job) }
        if let thrown { throw thrown }
        try ended.get()
    }

    // MARK: One statement

    private func start(_ text: String) throws {
        guard connection.send(script: text) else { throw PostgresError.connectionLost(mayHaveRun: false) }
    }

    private func startCopy(_ text: String, _ job: Job, expecting wanted: ExecStatusType) throws {
        try start(text)
        guard let result = try nextResult(job) else { throw PostgresError.connectionLost(mayHaveRun: true) }
        let status = result.status
        if status == PGRES_FATAL_ERROR {
            let failed = failure(of: result)
            try drain(job)
            throw failed
        }
        precondition(status == wanted, "the statement is not the COPY that it is said to be")
    }

    /// Reads to the end of a command and throws its error.
    private func drain(_ job: Job) throws {
        var failed: PostgresError?
        while let result = try nextResult(job) {
            if result.status == PGRES_FATAL_ERROR, failed == nil { failed = failure(of: result) }
        }
        if let failed { throw failed }
    }

    /// nil at the end of the command.
    private func nextResult(_ job: Job) throws -> PQResult? {
        while connection.isBusy { try waitForInput(job, stallSeconds: job.stallSeconds) }
        return connection.nextResult()
    }

    // MARK: Waiting

    /// Returns when PostgreSQL has sent or taken something.
    private func waitForInput(_ job: Job, stallSeconds: Double) throws {
        let start = monotonicSeconds()
        while true {
            let flushed = connection.flush()
            guard flushed >= 0 else { throw PostgresError.connectionLost(mayHaveRun: true) }
            let deadline = stallDeadline(of: job, since: start, seconds: stallSeconds)
            if poll(events: Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0), untilDeadline: deadline) { break }
            guard monotonicSeconds() < deadline else { throw PostgresError.deadlineExceeded(mayHaveRun: true) }
        }
        guard connection.consumeInput() else { throw PostgresError.connectionLost(mayHaveRun: true) }
    }

    /// Waits until the socket has taken all of the data so far, or PostgreSQL has sent something. During a COPY it only speaks to refuse
    /// the data, and libpq does not read that before their end.
    /// - Returns: whether PostgreSQL is silent
    private func flushUnlessAnswered(_ job: Job) throws -> Bool {
        var start = monotonicSeconds()
        while true {
            if poll(events: Int16(POLLIN), untilDeadline: 0) { return false }
            let flushed = connection.flush()
            guard flushed >= 0 else { throw PostgresError.connectionLost(mayHaveRun: true) }
            guard flushed == 1 else { return true }
            let deadline = stallDeadline(of: job, since: start, seconds: configuration.copyStallSeconds)
            if poll(events: Int16(POLLIN) | Int16(POLLOUT), untilDeadline: deadline) {
                start = monotonicSeconds()
            } else if monotonicSeconds() >= deadline {
                throw PostgresError.deadlineExceeded(mayHaveRun: true)
            }
        }
    }
}

internal import DequeModule

/// How long a session waits for PostgreSQL, in its pipeline.
extension Session {
    /// When ``keepDeadlines()`` has something to do next.
    var nextDeadline: Double {
        guard let head = inFlight.first else { return progressAt + configuration.idleCheckSeconds }
        return inFlight.reduce(stallDeadline(of: head.job, since: progressAt)) { next, entry in
            entry.isOverdue ? next : min(next, entry.job.deadline)
        }
    }

    /// When the connection is given up, unless PostgreSQL makes progress on the job.
    func stallDeadline(of job: Job, since progressAt: Double, seconds: Double? = nil) -> Double {
        let seconds = seconds ?? job.stallSeconds
        // The caller was cancelled, and PostgreSQL was asked to cancel the statement.
        return progressAt + (job.reply.isResolved ? min(seconds, configuration.stallSeconds) : seconds)
    }

    /// Answers each caller at its deadline. The session still reads PostgreSQL's late answer, since other callers' answers follow.
    /// - Returns: false if PostgreSQL has been silent for too long
    func keepDeadlines() -> Bool {
        let now = monotonicSeconds()
        guard let head = inFlight.first else {
            checkWhileIdle(at: now)
            return true
        }
        for index in inFlight.indices where !inFlight[index].isOverdue && inFlight[index].job.deadline <= now {
            inFlight[index].isOverdue = true
            inFlight[index].job.reply.resolve(.failure(PostgresError.deadlineExceeded(mayHaveRun: true)))
        }
        return now < stallDeadline(of: head.job, since: progressAt)
    }

    /// Not inside a transaction: the server's own limit for idle transactions would start anew.
    private func checkWhileIdle(at now: Double) {
        progressAt = now
        guard connection.isIdle else { return }
        _ = sendOwn([])
    }

    /// Has PostgreSQL end a transaction that takes too long, even while it waits for this side.
    /// - Returns: false when the connection is no longer usable
    func limitTransactions() -> Bool {
        // Older servers refuse the setting.
        guard let seconds = configuration.transactionTimeoutSeconds, !configuration.isPooled,
            connection.serverVersion >= 170_000
        else { return true }
        return sendOwn(["SELECT set_config('transaction_timeout', \(String(Int(seconds * 1_000))), false)"])
    }

    private func sendOwn(_ statements: [SQL]) -> Bool {
        guard let steps = queue(statements) else { return false }
        let job = Job(work: .pipeline(statements), stallSeconds: configuration.stallSeconds)
        inFlight.append(InFlight(job: job, steps: steps, isOwn: true))
        return true
    }
}

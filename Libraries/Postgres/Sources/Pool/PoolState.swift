internal import DequeModule

/// What the lock of a ``PostgresClient`` protects.
struct PoolState: Sendable {
    enum Slot: Sendable {
        case connecting
        case backingOff(reason: String)
        case shared(ConnectionThread)
        case leased(ConnectionThread)
    }

    private let acquireSeconds: Double
    var slots: [Slot]
    /// Statements that no connection has room for.
    var queue: Deque<Job> = []
    /// Jobs without statements, of callers that wait for a connection of their own: the answer has the caller look for one. One
    /// connection serves one of them: waking all would have a thousand compete.
    var leaseWaiters: Deque<Job> = []
    var isClosing = false
    /// Since when no connection takes statements; nil while one does.
    private var unservedSince: Double? = 0
    private var hasTimer = false

    init(_ configuration: PostgresConfiguration) {
        slots = Array(repeating: .connecting, count: configuration.connections)
        acquireSeconds = configuration.acquireTimeoutSeconds
    }

    // MARK: Connections

    /// The least busy connection that is shared and makes progress.
    /// - Parameter depth: of unanswered jobs, which the connection must not have reached
    func leastBusy(at now: Double, below depth: Int) -> PostgresClient.Lease? {
        var best: (lease: PostgresClient.Lease, load: Int)?
        for (index, slot) in slots.enumerated() {
            // One that has ended stays in its slot until another is being opened.
            guard case .shared(let connection) = slot, connection.takesJobs else { continue }
            let load = connection.load
            guard load < best?.load ?? depth, !connection.isStalled(at: now) else { continue }
            best = (PostgresClient.Lease(slot: index, connection: connection), load)
            if load == 0 { break }
        }
        return best?.lease
    }

    /// Gives waiting statements to a shared connection, and has one leaseholder look for a connection.
    /// - Returns: whether the connection has got work, and is to be woken
    mutating func hasRoom(_ connection: ConnectionThread) -> Bool {
        var hasWork = false
        while connection.load < ConnectionThread.depthLimit, let next = queue.first {
            if !next.reply.isResolved {
                guard connection.enqueue(next) else { break }
                hasWork = true
            }
            queue.removeFirst()
        }
        // One that gave up in this moment does not look.
        while let leaseholder = leaseWaiters.popFirst() { if leaseholder.reply.resolve(.success([])) { break } }
        return hasWork
    }

    /// When the client closes, what waits is given to the connections there are, however much it is.
    /// - Returns: what no connection has taken
    mutating func spreadQueue() -> [Job] {
        defer { queue = [] }
        for leaseholder in leaseWaiters { leaseholder.reply.resolve(.success([])) }
        leaseWaiters = []
        let connections = slots.compactMap { if case .shared(let connection) = $0 { connection } else { nil } }
        let jobs = queue.filter { !$0.reply.isResolved }
        return jobs.enumerated().compactMap { index, job in
            guard !connections.isEmpty, connections[index % connections.count].enqueue(job) else { return job }
            return nil
        }
    }

    // MARK: Waiting callers

    var waitingCallers: Int { (queue + leaseWaiters).count { !$0.reply.isResolved } }

    /// Whether a timer is needed that is not there yet.
    mutating func startsTimer() -> Bool {
        defer { hasTimer = true }
        return !hasTimer
    }

    /// Whether the timer is needed no more.
    mutating func stopsTimer() -> Bool {
        hasTimer = !queue.isEmpty || !leaseWaiters.isEmpty
        return !hasTimer
    }

    /// Removes the waiting callers that have given up or have run out of time.
    /// - Returns: the callers out of time, to be answered without the lock
    mutating func takeExpired(at now: Double) -> [(job: Job, error: PostgresError)] {
        if isServing { unservedSince = nil } else if unservedSince == nil { unservedSince = now }
        let whyExpired = patience(at: now)
        var expired: [(Job, PostgresError)] = []
        func expire(_ jobs: inout Deque<Job>) {
            jobs.removeAll { job in
                guard !job.reply.isResolved else { return true }
                guard let error = whyExpired(job) else { return false }
                expired.append((job, error))
                return true
            }
        }
        expire(&queue)
        expire(&leaseWaiters)
        return expired
    }

    /// - Returns: why a caller may wait no longer, as things are now; nil if it may
    func patience(at now: Double) -> (_ waiting: Job) -> PostgresError? {
        let unservedSince = isServing ? nil : unservedSince ?? 0
        return { [acquireSeconds, noConnection] waiting in
            // The missing connection comes first: it is the cause, and a late thread only a symptom.
            if let unservedSince, now >= max(waiting.askedAt, unservedSince) + acquireSeconds { return noConnection }
            return now < waiting.deadline ? nil : .deadlineExceeded(mayHaveRun: false)
        }
    }

    var noConnection: PostgresError {
        if isClosing { return .unavailable(reason: "the client is closed") }
        for case .backingOff(let reason) in slots { return .unavailable(reason: reason) }
        return .unavailable(reason: "all \(slots.count) connections are being opened")
    }

    /// Whether a connection takes statements, or will when its caller returns it.
    private var isServing: Bool { slots.contains { $0.connection?.takesJobs == true } }
}

extension PoolState.Slot {
    var connection: ConnectionThread? {
        switch self {
        case .shared(let connection), .leased(let connection): connection
        case .connecting, .backingOff: nil
        }
    }

    var use: PostgresStatistics.Use {
        switch self {
        case .connecting: .connecting
        case .backingOff: .backingOff
        case .shared(let connection): connection.load > 0 ? .busy : .idle
        case .leased: .leased
        }
    }
}

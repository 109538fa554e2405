internal import DequeModule

/// What the lock of a ``ConnectionPool`` protects.
struct PoolState: Sendable {
    enum Slot: Sendable {
        case connecting
        case backingOff(reason: String)
        case shared(ConnectionThread)
        case leased(ConnectionThread)
    }

    struct Waiting<Value: Sendable>: Sendable {
        var value: Value
        var askedAt: Double
        var deadline: Double
    }

    /// How long callers may wait, as things are at a moment.
    struct Patience {
        fileprivate var now: Double
        /// nil while a connection takes statements.
        fileprivate var unservedSince: Double?
        /// While no connection does.
        fileprivate var seconds: Double
        fileprivate var noConnection: PostgresError

        /// nil: the caller may wait longer.
        func whyExpired<Value>(_ waiting: Waiting<Value>) -> PostgresError? {
            // The missing connection comes first: it is the cause, and a late thread only a symptom.
            if let unservedSince, now >= max(waiting.askedAt, unservedSince) + seconds { return noConnection }
            return now < waiting.deadline ? nil : .deadlineExceeded(mayHaveRun: false)
        }
    }

    private let acquireSeconds: Double
    var slots: [Slot]
    /// Statements that no connection has room for.
    var queue: Deque<Waiting<Job>> = []
    /// Callers that wait for a connection of their own. One connection serves one of them: waking all would have a thousand compete.
    var leaseWaiters: Deque<Waiting<Reply<Void>>> = []
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
    func leastBusy(at now: Double, below depth: Int) -> ConnectionPool.Lease? {
        var best: (lease: ConnectionPool.Lease, load: Int)?
        for (index, slot) in slots.enumerated() {
            // One that has ended stays in its slot until another is being opened.
            guard case .shared(let connection) = slot, connection.takesJobs else { continue }
            let load = connection.load
            guard load < best?.load ?? depth, !connection.isStalled(at: now) else { continue }
            best = (ConnectionPool.Lease(slot: index, connection: connection), load)
            if load == 0 { break }
        }
        return best?.lease
    }

    /// Gives waiting statements to a shared connection, and has one leaseholder look for a connection.
    /// - Returns: whether the connection has got work, and is to be woken
    mutating func hasRoom(_ connection: ConnectionThread) -> Bool {
        var hasWork = false
        while connection.load < ConnectionThread.depthLimit, let next = queue.first {
            if !next.value.reply.isResolved {
                guard connection.enqueue(next.value) else { break }
                hasWork = true
            }
            queue.removeFirst()
        }
        // One that gave up in this moment does not look.
        while let leaseholder = leaseWaiters.popFirst() { if leaseholder.value.resolve(.success(())) { break } }
        return hasWork
    }

    /// When the client closes, what waits is given to the connections there are, however much it is.
    /// - Returns: what no connection has taken
    mutating func spreadQueue() -> [Job] {
        defer { queue = [] }
        for leaseholder in leaseWaiters { leaseholder.value.resolve(.success(())) }
        leaseWaiters = []
        let connections = slots.compactMap { if case .shared(let connection) = $0 { connection } else { nil } }
        let jobs = queue.map(\.value).filter { !$0.reply.isResolved }
        return jobs.enumerated().compactMap { index, job in
            guard !connections.isEmpty, connections[index % connections.count].enqueue(job) else { return job }
            return nil
        }
    }

    // MARK: Waiting callers

    var waitingCallers: Int {
        queue.count { !$0.value.reply.isResolved } + leaseWaiters.count { !$0.value.isResolved }
    }

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
    /// - Returns: for each caller out of time a function that answers it, to be called without the lock
    mutating func takeExpired(at now: Double) -> [@Sendable () -> Void] {
        if isServing { unservedSince = nil } else if unservedSince == nil { unservedSince = now }
        let patience = patience(at: now)
        var expired: [@Sendable () -> Void] = []
        queue.removeAll { waiting in
            guard !waiting.value.reply.isResolved else { return true }
            guard let error = patience.whyExpired(waiting) else { return false }
            expired.append { [reply = waiting.value.reply] in reply.resolve(.failure(error)) }
            return true
        }
        leaseWaiters.removeAll { waiting in
            guard !waiting.value.isResolved else { return true }
            guard let error = patience.whyExpired(waiting) else { return false }
            expired.append { [reply = waiting.value] in reply.resolve(.failure(error)) }
            return true
        }
        return expired
    }

    func patience(at now: Double) -> Patience {
        Patience(
            now: now, unservedSince: isServing ? nil : unservedSince ?? 0,
            seconds: acquireSeconds, noConnection: noConnection)
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

internal import DequeModule

/// What the lock of a ``PostgresClient`` protects: the queue that every caller joins, and the connections that pull from it.
///
/// A connection claims a number of jobs and is woken; when its thread runs, it takes as many from the head of the queue. So the first
/// ``claimed`` jobs are as good as sent, and only those behind them wait. A lease is never among the first: it is bound to a connection,
/// which claims nothing more, answers what it has, and is handed over.
struct PoolState: Sendable {
    /// The place of one connection.
    struct Slot: Sendable {
        /// Nil until one is open.
        var connection: ConnectionThread?
        /// Why the last attempt to open one failed.
        var failure: String?
        /// How many jobs of the queue the connection was woken for.
        var claims = 0
        /// The job of the caller that gets the connection next. The connection answers its own jobs first, and the caller may give up before.
        var lease: Job?
        var isLeased = false
        /// Jobs of the leaseholder that the connection's thread has not taken yet.
        var jobs: Deque<Job> = []
        /// Whether the connection ends when it has answered its jobs.
        var isClosing = false

        var isDraining: Bool { lease?.reply.isResolved == false }
        var isShared: Bool { connection != nil && !isLeased && !isClosing && !isDraining }

        var use: PostgresStatistics.Use {
            guard let connection else { return failure == nil ? .connecting : .backingOff }
            return isLeased || isDraining ? .leased : connection.load + claims > 0 ? .busy : .idle
        }
    }

    /// Maximum number of jobs in the queue; the next is refused.
    private static let queueLimit = 10_000

    private let acquireSeconds: Double
    var slots: [Slot]
    private var queue: Deque<Job> = []
    private(set) var isClosing = false
    /// The time since which the pool has no connection; nil while it has one.
    private var unservedSince: Double?
    private var hasTimer = false

    init(_ configuration: PostgresConfiguration) {
        slots = Array(repeating: Slot(), count: configuration.connections)
        acquireSeconds = configuration.acquireTimeoutSeconds
    }

    private var claimed: Int { slots.reduce(0) { $0 + $1.claims } }

    // MARK: Queueing

    /// - Returns: why the job is refused; nil if it is in the queue
    mutating func enqueue(_ job: Job) -> PostgresError? {
        if isClosing { return noConnection }
        guard queue.count < Self.queueLimit else {
            return .unavailable(reason: "\(Self.queueLimit) callers wait for a connection already")
        }
        queue.append(job)
        return nil
    }

    /// Has the least busy connections claim the jobs that wait, and binds each lease to one.
    /// - Returns: the connections to wake
    mutating func distribute() -> [ConnectionThread] {
        var claimed = self.claimed
        guard claimed < queue.count else { return [] }
        let now = monotonicSeconds()
        var woken: [ConnectionThread] = []
        while claimed < queue.count, let (slot, connection) = leastBusy(at: now) {
            if queue[claimed].isLease {
                slots[slot].lease = queue.remove(at: claimed)
                grantLease(of: slot)
            } else {
                if slots[slot].claims == 0 { woken.append(connection) }
                slots[slot].claims += 1
                claimed += 1
            }
        }
        return woken
    }

    /// The least busy connection that is shared, has room and makes progress. A client that closes fills them all, however much waits.
    private func leastBusy(at now: Double) -> (slot: Int, connection: ConnectionThread)? {
        var best: (slot: Int, connection: ConnectionThread)?
        var least = isClosing ? Int.max : ConnectionThread.depthLimit
        for (index, slot) in slots.enumerated() where slot.isShared {
            guard let connection = slot.connection, isClosing || !connection.isStalled(at: now) else { continue }
            let load = connection.load + slot.claims
            guard load < least else { continue }
            best = (index, connection)
            least = load
            if load == 0 { break }
        }
        return best
    }

    // MARK: Connections

    /// The jobs that a connection's thread sends next, and whether the connection ends after them.
    mutating func take(_ slot: Int) -> (jobs: Deque<Job>, isClosing: Bool) {
        let count = slots[slot].claims
        var jobs = slots[slot].jobs
        jobs.append(contentsOf: queue.prefix(count))
        queue.removeFirst(count)
        slots[slot].claims = 0
        slots[slot].jobs = []
        slots[slot].connection?.expect(count)
        grantLease(of: slot)
        return (jobs, isClosing || slots[slot].isClosing)
    }

    /// Hands a connection to its next leaseholder, once all jobs of other callers are answered: a leaseholder that is cancelled cancels
    /// what runs on its connection.
    private mutating func grantLease(of slot: Int) {
        guard let connection = slots[slot].connection, let lease = slots[slot].lease else { return }
        guard connection.load + slots[slot].claims == 0 else { return }
        slots[slot].lease = nil
        // Not to a caller that has given up.
        slots[slot].isLeased = lease.reply.resolve(.success((rows: [], connection: connection)))
    }

    /// Queues a job of the leaseholder.
    /// - Returns: false if the connection takes none any more
    mutating func enqueue(_ job: Job, on connection: ConnectionThread) -> Bool {
        guard !isClosing, let slot = leasedSlot(of: connection), !slots[slot].isClosing else { return false }
        slots[slot].jobs.append(job)
        connection.expect(1)
        return true
    }

    mutating func giveBack(_ connection: ConnectionThread) {
        guard let slot = leasedSlot(of: connection) else { return }
        if connection.isSpoiled { slots[slot].isClosing = true } else { slots[slot].isLeased = false }
    }

    /// Nil if the connection has ended.
    private func leasedSlot(of connection: ConnectionThread) -> Int? {
        slots.firstIndex { $0.isLeased && $0.connection === connection }
    }

    /// Forgets a connection that has ended. Its jobs that were not sent go to other connections, but not those of its leaseholder.
    /// - Returns: the leaseholder's jobs, and whether this side has ended the connection
    mutating func end(_ slot: Int, unsent: Deque<Job>) -> (lost: Deque<Job>, isExpected: Bool) {
        let ended = slots[slot]
        slots[slot] = Slot()
        if let lease = ended.lease { queue.insert(lease, at: claimed) }
        if !ended.isLeased { queue.insert(contentsOf: unsent, at: claimed) }
        return (ended.isLeased ? unsent + ended.jobs : ended.jobs, isClosing || ended.isClosing)
    }

    /// Has every connection end after the statements of the queue. No connection is leased any more.
    mutating func close() {
        isClosing = true
        for job in waiting where job.isLease { job.reply.resolve(.failure(noConnection)) }
        queue.removeAll(where: \.isLease)
    }

    // MARK: Waiting callers

    /// The jobs that no connection has claimed, and the leases whose connections still answer other callers.
    var waiting: [Job] { (Array(queue[claimed...]) + slots.compactMap(\.lease)).filter { !$0.reply.isResolved } }

    private var hasWaiting: Bool { claimed < queue.count || slots.contains(where: \.isDraining) }

    /// Whether a timer is needed that is not there yet.
    mutating func startsTimer() -> Bool {
        guard !hasTimer, hasWaiting else { return false }
        hasTimer = true
        return true
    }

    /// Takes the callers out of the queue that have given up, and those that have run out of time.
    /// - Returns: the late callers, whom the pool answers without the lock; nil if nobody waits, so that the timer ends
    mutating func expired(at now: Double) -> [(job: Job, error: PostgresError)]? {
        hasTimer = hasWaiting
        guard hasTimer else { return nil }
        let isServing = slots.contains { $0.connection != nil && !$0.isClosing }
        unservedSince = isServing ? nil : unservedSince ?? now
        let overdue = waiting.compactMap { job in whyOverdue(job, at: now).map { (job: job, error: $0) } }
        // They leave the queue under the lock: a connection that opens now must not send what its caller is told was never sent.
        let left = queue[claimed...].filter { !$0.reply.isResolved && whyOverdue($0, at: now) == nil }
        queue.replaceSubrange(claimed..., with: left)
        return overdue
    }

    private func whyOverdue(_ job: Job, at now: Double) -> PostgresError? {
        // The missing connection comes first: it is the cause, and a late thread only a symptom.
        let unservedUntil = unservedSince.map { max($0, job.askedAt) + acquireSeconds } ?? .infinity
        if isClosing || now >= unservedUntil { return noConnection }
        return now < job.deadline ? nil : .deadlineExceeded(mayHaveRun: false)
    }

    private var noConnection: PostgresError {
        if isClosing { return .unavailable(reason: "the client is closed") }
        if let failure = slots.compactMap(\.failure).first { return .unavailable(reason: failure) }
        return .unavailable(reason: "all \(slots.count) connections are being opened")
    }
}

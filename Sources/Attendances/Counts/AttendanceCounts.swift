internal import EventStore
internal import Events
internal import Logging
internal import Postgres
internal import ServiceLifecycle
internal import Synchronization

/// The number of attendances of every event, in memory.
///
/// The counts are loaded from the read model at one position, and follow the log from there. They get the commits of this process
/// before the callers get their results, and read the commits of other processes from the log. While they are not in step, and if
/// there are too many events, PostgreSQL answers.
///
/// Thread-safe: a lock protects the state.
final class AttendanceCounts: Service {
    /// Maximum number of events with attendances. They take at most 80 MB: 12 bytes for each of 4,194,304 places of a dictionary, and
    /// half as much again while it grows.
    static let eventLimit = 3_000_000
    /// Maximum seconds that a command waits until the counts show its change, and that a reader waits for a requested position.
    static let patienceSeconds = 1.0
    /// A count that is older than this tells its age.
    static let staleAfter = Duration.seconds(3)

    struct Counted: Sendable, Hashable {
        var count: Int32
        var position: Int64
        /// `nil` for at most 3 seconds
        var staleFor: Duration?
    }

    struct State: Sendable {
        /// Events without attendances have no entry.
        var counts: [EventID: Int32] = [:]
        /// Parts of the log that arrive before an earlier part wait here.
        var buffer = ReorderBuffer<AttendanceDomainEvent>()
        /// The generation of the read model's tables that the counts agree with; `nil` while they are not loaded.
        var tableGeneration: String?
        /// The generation of the log before the load read anything.
        var generation = LogGeneration()
        /// Whether the counts have held the whole log since they were loaded.
        var isInUse = false
        /// The last time at which the counts were known to hold the whole log.
        var inStepAt = ContinuousClock.now
        /// The position of an acknowledged write that readers must see.
        var mustShow: Int64 = 0
        /// Whether more events have attendances than the counts may hold.
        var exceedsLimit = false

        /// The end of the log in the counts; `nil` while they are not loaded.
        var reached: LogCursor? { buffer.reached }
    }

    let client: PostgresClient
    let standby: Standby?
    let notifier: LogNotifier
    let logger: Logger
    let eventLimit: Int
    let mayLoad: @Sendable () -> Bool
    let waiters = PositionWaiters()
    let state = Mutex(State())

    /// - Parameters:
    ///   - client: the primary
    ///   - standby: serves the load and the tail of the log while it can; must run
    ///   - notifier: must run
    ///   - mayLoad: whether a connection is free for a load
    init(
        client: PostgresClient, standby: Standby? = nil, notifier: LogNotifier, eventLimit: Int = eventLimit,
        logger: Logger, mayLoad: @escaping @Sendable () -> Bool = { true }
    ) {
        self.client = client
        self.standby = standby
        self.notifier = notifier
        self.eventLimit = eventLimit
        self.mayLoad = mayLoad
        self.logger = logger
    }

    /// The count of an event; `nil` if the counts are not in use, or have not reached the position or an acknowledged write.
    func count(of event: EventID, atLeast position: Int64? = nil) -> Counted? {
        let generation = notifier.history.generation
        return state.withLock { state in
            guard state.isInUse, state.generation == generation, let reached = state.reached?.position,
                reached >= max(position ?? 0, state.mustShow)
            else { return nil }
            let age = ContinuousClock.now - state.inStepAt
            return Counted(
                count: state.counts[event] ?? 0, position: reached, staleFor: age > Self.staleAfter ? age : nil)
        }
    }

    /// Waits at most one second until the counts hold a position. After that time, readers do not use them until they hold it.
    func show(_ position: Int64) async {
        if await reaches(position) { return }
        state.withLock { $0.mustShow = max($0.mustShow, position) }
    }

    /// Waits at most one second until the counts hold a position.
    /// - Returns: whether the counts are in use and hold the position
    func reaches(_ position: Int64) async -> Bool {
        guard state.withLock({ $0.isInUse }) else { return false }
        return await waiters.wait(for: position, seconds: Self.patienceSeconds) { [self] in
            state.withLock { $0.reached?.position ?? 0 }
        }
    }

    /// Applies a part of the log and the parts that wait for it. The part waits if an earlier one is missing.
    func apply(_ segment: LogSegment<AttendanceDomainEvent>) {
        let position = state.withLock { state -> Int64? in
            guard let reached = state.reached?.position, let joined = state.buffer.join(segment) else { return nil }
            for (_, envelope) in joined.events(after: reached) { state.counts.add(envelope.event) }
            return joined.through
        }
        if let position { waiters.reached(position) }
    }
}

extension AttendanceCounts: CommitListener {
    func committed(_ commit: Commit) {
        guard notifier.history.generation == state.withLock({ $0.generation }) else { return }
        apply(LogSegment(commit))
    }
}

extension [EventID: Int32] {
    /// Added and removed alternate in each stream, so that no count falls below 0.
    mutating func add(_ event: AttendanceDomainEvent) {
        let count = self[event.key.event, default: 0] + event.change
        self[event.key.event] = count > 0 ? count : nil
    }
}

extension AttendanceDomainEvent {
    /// The change of the event's count.
    var change: Int32 {
        switch self {
        case .added: 1
        case .removed: -1
        }
    }
}

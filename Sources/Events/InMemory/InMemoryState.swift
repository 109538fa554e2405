internal import Encoding
internal import EventStore
internal import Synchronization

/// The phase of what a process keeps in memory, for operators and their tools.
public enum InMemoryPhase: String, Sendable, CaseIterable {
    /// The process keeps nothing in memory.
    case off
    /// Requests may not read the content: it is loaded, or too old, or stands before an event that this program cannot read.
    case loading
    case inUse = "in_use"
}

/// The status of an ``InMemoryReadModel``, for operators and their tools.
public struct InMemoryStatus: Sendable, Hashable {
    public var phase = InMemoryPhase.off
    /// Whether the content has not been in use since the process started.
    public var isStarting = false
    /// The content holds the log up to this position; 0 while it is not loaded.
    public var position: Int64 = 0
    /// Number of events in the content.
    public var count = 0
    /// Bytes of memory that the content takes.
    public var bytes = 0
    /// Number of these bytes from which on the node takes no new events; 0 if the process keeps nothing in memory.
    public var limit = 0
    /// The time since the content was last known to hold the whole log, or since the process began to keep it.
    public var age = Duration.zero
    /// Whether the content is in use and may lack the newest recorded events.
    public var isStale = false
    /// Whether this program cannot read the next recorded event of the log. No request reads the content then.
    public var isBlockedByUnreadableEvent = false

    /// The status of a process that keeps nothing in memory.
    public init() {}
}

extension InMemoryReadModel {
    var status: InMemoryStatus {
        var status = InMemoryStatus()
        status.phase = state.isInUse ? .inUse : .loading
        status.isStarting = state.isStarting
        status.position = state.position
        status.count = content.count
        status.bytes = content.bytes
        status.limit = content.limit
        status.age = state.age
        status.isStale = state.isInUse && state.staleFor != nil
        status.isBlockedByUnreadableEvent = state.isBlockedByUnreadableEvent
        return status
    }
}

/// Whether requests may read an ``InMemoryReadModel``, and how new it is.
final class InMemoryState: Sendable {
    /// The longest age of a content that requests may read, because meanwhile a person may have been erased.
    static let longestAge = Duration.seconds(3_600)
    /// Maximum number of tasks that wait for a position.
    private static let waitingLimit = 1_000

    private struct Waiters: Sendable {
        var waiting: [Int: (position: Int64, arrival: AsyncStream<Void>.Continuation)] = [:]
        var number = 0
    }

    private let starting = Atomic(true)
    private let usable = Atomic(false)
    private let tables = Atomic<UInt32>(0)
    private let reached = Atomic<Int64>(0)
    private let waiters = Mutex(Waiters())
    /// The error of the next recorded event, if this program cannot read it.
    private let unreadable = Mutex<String?>(nil)
    private let start = ContinuousClock.now
    /// The last time at which the content was known to hold the whole log, in nanoseconds since `start`.
    private let inStep = Atomic<Int64>(0)
    private let staleAfter: Duration
    private let longestAge: Duration
    /// The stream ends when the content is in use for the first time.
    let beginning: AsyncStream<Never>
    private let begun: AsyncStream<Never>.Continuation

    init(staleAfter: Duration, longestAge: Duration = longestAge) {
        self.staleAfter = staleAfter
        self.longestAge = longestAge
        (beginning, begun) = AsyncStream.makeStream(of: Never.self)
    }

    /// Whether the content has not been in use yet.
    var isStarting: Bool { starting.load(ordering: .relaxed) }

    var isInUse: Bool { usable.load(ordering: .acquiring) && !isTooOld }

    var isTooOld: Bool { age > longestAge }

    func use() {
        usable.store(true, ordering: .releasing)
        starting.store(false, ordering: .relaxed)
        begun.finish()
    }

    func stopUse() { usable.store(false, ordering: .releasing) }

    var position: Int64 { reached.load(ordering: .acquiring) }

    func reach(_ position: Int64) {
        reached.store(position, ordering: .releasing)
        waiters.withLock { waiters in
            for task in waiters.waiting.values where task.position <= position { task.arrival.yield() }
        }
    }

    /// Waits until the content has reached a position.
    /// - Returns: false if the time is over first, if the task is cancelled, or if 1,000 tasks wait already
    func reaches(_ position: Int64, within seconds: Double) async -> Bool {
        if self.position >= position { return true }
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = waiters.withLock { waiters in
            guard waiters.waiting.count < Self.waitingLimit else { return nil }
            waiters.number += 1
            waiters.waiting[waiters.number] = (position, arrival)
            return waiters.number
        }
        guard let number else { return false }
        defer { waiters.withLock { $0.waiting[number] = nil } }
        // The content may have reached the position before this task was registered.
        if self.position >= position { return true }
        let deadline = Task {
            try? await Task.sleep(for: .seconds(seconds))
            arrival.finish()
        }
        defer { deadline.cancel() }
        for await _ in arrivals { return true }
        return false
    }

    /// Differs after the content was mended or loaded again, because a list at the same position may then be another one. Nodes that did
    /// so by the same tables have the same mark; it is 0 before.
    var tablesMark: UInt32 { tables.load(ordering: .acquiring) }

    func changedLists(by tables: String) {
        self.tables.store(Array(tables.utf8).withRawSpan { EventVersion.mark(of: $0) }, ordering: .releasing)
    }

    /// Notes that the content held the whole log at this instant.
    func isInStep(at instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - start).components
        inStep.max(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        unreadable.withLock { $0 = nil }
    }

    var age: Duration { ContinuousClock.now - start - .nanoseconds(inStep.load(ordering: .relaxed)) }

    /// The age of a stale content; `nil` while it is not stale.
    var staleFor: Duration? {
        let age = age
        return age > staleAfter ? age : nil
    }

    /// Notes that this program cannot read the next recorded event of the log.
    /// - Returns: whether the error is a new one
    func isBlocked(by error: FormatError) -> Bool {
        unreadable.withLock { unreadable in
            defer { unreadable = "\(error)" }
            return unreadable != "\(error)"
        }
    }

    var isBlockedByUnreadableEvent: Bool { unreadable.withLock { $0 != nil } }
}

internal import EventStore
internal import Synchronization

/// The state of a node's index: whether requests may read it, and how new it is.
final class IndexState: Sendable {
    private let phases = Mutex(IndexStatus.Phase.filling)
    private let usable = Atomic(false)
    private let mustBeShown = Atomic<Int64>(0)
    /// The error of the next recorded event, if this program cannot read it.
    private let unreadable = Mutex<String?>(nil)
    private let start = ContinuousClock.now
    /// The last time at which the index was known to hold the whole log, in nanoseconds since `start`.
    private let inStep = Atomic<Int64>(0)
    /// The stream ends when the first phase, `filling`, ends.
    let beginning: AsyncStream<Never>
    private let begun: AsyncStream<Never>.Continuation

    init() { (beginning, begun) = AsyncStream.makeStream(of: Never.self) }

    var phase: IndexStatus.Phase { phases.withLock { $0 } }

    var isInUse: Bool { usable.load(ordering: .acquiring) }

    func enter(_ phase: IndexStatus.Phase) {
        phases.withLock { current in
            // The phase stays `filling` until the index is in use for the first time, even if the load begins again.
            guard current != .filling || phase != .interrupted else { return }
            current = phase
            usable.store(phase == .inUse, ordering: .releasing)
        }
        if phase == .inUse || phase == .tooSmall { begun.finish() }
    }

    /// Notes that the index held the whole log at this instant.
    func isInStep(at instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - start).components
        inStep.max(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        unreadable.withLock { $0 = nil }
    }

    /// Notes that this program cannot read the next recorded event of the log. The index stays at the position before it.
    /// - Returns: whether the error is a new one
    func stands(before error: FormatError) -> Bool {
        unreadable.withLock { unreadable in
            defer { unreadable = "\(error)" }
            return unreadable != "\(error)"
        }
    }

    var isBlockedByUnreadableEvent: Bool { unreadable.withLock { $0 != nil } }

    /// The time since the index was last known to hold the whole log.
    var age: Duration { ContinuousClock.now - start - .nanoseconds(inStep.load(ordering: .relaxed)) }

    /// Notes the position of an acknowledged write. Requests do not read the index until it holds this position.
    func mustShow(_ position: Int64) { mustBeShown.max(position, ordering: .relaxed) }

    /// Lowers the position of the acknowledged writes to the end of the log, because the log has lost some of them.
    func forget(_ position: Int64, for tail: Int64) {
        _ = mustBeShown.compareExchange(expected: position, desired: tail, ordering: .relaxed)
    }

    var shown: Int64 { mustBeShown.load(ordering: .relaxed) }
}

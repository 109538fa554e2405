internal import EventStore
internal import Synchronization

/// Whether the index of a node can be read, and how new it is.
final class IndexState: Sendable {
    private let phases = Mutex(IndexStatus.Phase.filling)
    private let usable = Atomic(false)
    private let mustBeShown = Atomic<Int64>(0)
    /// The error of the next recorded event, if this program cannot read it.
    private let unreadable = Mutex<String?>(nil)
    private let start = ContinuousClock.now
    /// Nanoseconds since the start.
    private let inStep = Atomic<Int64>(0)
    /// Ends when the first phase does.
    let beginning: AsyncStream<Never>
    private let begun: AsyncStream<Never>.Continuation

    init() { (beginning, begun) = AsyncStream.makeStream(of: Never.self) }

    var phase: IndexStatus.Phase { phases.withLock { $0 } }

    var isInUse: Bool { usable.load(ordering: .acquiring) }

    func enter(_ phase: IndexStatus.Phase) {
        phases.withLock { current in
            // The phase stays `filling` until the index is in use for the first time, however often the load begins again.
            guard current != .filling || phase != .interrupted else { return }
            current = phase
            usable.store(phase == .inUse, ordering: .releasing)
        }
        if phase == .inUse || phase == .tooSmall { begun.finish() }
    }

    /// The log was seen not to go on behind what the index holds.
    func isInStep(at instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - start).components
        inStep.max(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
        unreadable.withLock { $0 = nil }
    }

    /// The log has a recorded event that this program cannot read: the index stays as it was before it.
    /// - Returns: whether that is news
    func stands(before error: FormatError) -> Bool {
        unreadable.withLock { unreadable in
            defer { unreadable = "\(error)" }
            return unreadable != "\(error)"
        }
    }

    var standsBeforeUnreadable: Bool { unreadable.withLock { $0 != nil } }

    /// How long ago the index was last known to hold all that the log has.
    var age: Duration { ContinuousClock.now - start - .nanoseconds(inStep.load(ordering: .relaxed)) }

    /// Was acknowledged here: the index is not to be read before it holds that.
    func mustShow(_ position: Int64) { mustBeShown.max(position, ordering: .relaxed) }

    /// The log ends before the position: it has lost acknowledged events.
    func forget(_ position: Int64, for tail: Int64) {
        _ = mustBeShown.compareExchange(expected: position, desired: tail, ordering: .relaxed)
    }

    var shown: Int64 { mustBeShown.load(ordering: .relaxed) }
}

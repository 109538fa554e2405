internal import DequeModule

/// The last changes of the log in memory, so that a client continues after a reconnect.
struct ChangeRing: Sendable {
    /// Maximum number of changes.
    static let limit = 50_000
    /// Maximum memory of all changes, in bytes.
    static let limitBytes = 67_108_864
    /// Maximum memory of a change besides its JSON, in bytes: its place, as much unused capacity, and the header of the JSON.
    private static let changeBytes = 256

    /// The ring has every change after this position.
    private(set) var floor: Int64
    /// The ring has every change up to this position.
    private(set) var through: Int64
    private var changes: Deque<EventChange> = []
    private var bytes = 0
    private let limit: Int
    private let limitBytes: Int

    init(at position: Int64, limit: Int = Self.limit, limitBytes: Int = Self.limitBytes) {
        (floor, through) = (position, position)
        self.limit = limit
        self.limitBytes = limitBytes
    }

    var count: Int { changes.count }

    mutating func append(_ change: EventChange) {
        changes.append(change)
        bytes += Self.changeBytes + change.json.count
        through = change.position
        while changes.count > limit || bytes > limitBytes, let oldest = changes.popFirst() {
            bytes -= Self.changeBytes + oldest.json.count
            floor = oldest.position
        }
    }

    /// The log has no further change up to this position.
    mutating func reached(_ position: Int64) { through = max(through, position) }

    /// The changes after a position, in order; `nil` if the ring does not have all of them any longer.
    func changes(after position: Int64) -> Deque<EventChange>.SubSequence? {
        guard position >= floor else { return nil }
        var (low, high) = (changes.startIndex, changes.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if changes[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return changes[low...]
    }
}

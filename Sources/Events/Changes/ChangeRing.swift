internal import DequeModule

/// The last changes of the log in memory, so that a client continues after a reconnect.
struct ChangeRing: Sendable {
    /// Maximum number of changes.
    static let limit = 50_000
    /// Maximum memory of all changes, in bytes.
    static let limitBytes = 67_108_864

    /// A change as the streams show it.
    struct Entry: Sendable {
        /// Memory of an entry besides its lines, in bytes.
        fileprivate static let ownBytes = 320

        let position: Int64
        let before: LocatedEvent?
        let after: LocatedEvent?
        /// The lines for a client that shows the event from now on. Rendered once, and shared by all streams.
        let put: [UInt8]
        /// The lines for a client that shows the event no longer.
        let gone: [UInt8]

        init(_ change: EventChange) {
            position = change.position
            before = change.before.map(LocatedEvent.init)
            after = change.after.map(LocatedEvent.init)
            put = change.after == nil ? [] : ChangeLines.put(change.json, at: change.position)
            gone = change.before == nil ? [] : ChangeLines.gone(change.id, at: change.position)
        }

        fileprivate var bytes: Int { Self.ownBytes + put.count + gone.count }

        /// The lines of a stream with this filter; `nil` if the change does not concern it.
        func lines(_ filter: ChangeFilter) -> [UInt8]? {
            if let after, filter.shows(after) { return put }
            if let before, filter.shows(before) { return gone }
            return nil
        }
    }

    /// The ring has every change after this position.
    private(set) var floor: Int64
    /// The ring has every change up to this position.
    private(set) var through: Int64
    private var entries: Deque<Entry> = []
    private var bytes = 0
    private let limit: Int
    private let limitBytes: Int

    init(at position: Int64, limit: Int = Self.limit, limitBytes: Int = Self.limitBytes) {
        (floor, through) = (position, position)
        self.limit = limit
        self.limitBytes = limitBytes
    }

    var count: Int { entries.count }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
        through = entry.position
        while entries.count > limit || bytes > limitBytes, let oldest = entries.popFirst() {
            bytes -= oldest.bytes
            floor = oldest.position
        }
    }

    /// The log has no further change up to this position.
    mutating func reached(_ position: Int64) { through = max(through, position) }

    /// The changes after a position, in order; `nil` if the ring does not have all of them any longer.
    func entries(after position: Int64) -> Deque<Entry>.SubSequence? {
        guard position >= floor else { return nil }
        var (low, high) = (entries.startIndex, entries.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return entries[low...]
    }
}

internal import DequeModule
internal import Encoding
internal import EventStore
internal import SpatialIndex

/// The last changes of the log in memory, so that a client continues after a reconnect.
///
/// The ring keeps where and when events took place, and nothing else of them. The content of an event comes from the index, so that
/// no client gets content that was changed, cancelled or hidden since.
///
/// Of an erased event it keeps the number alone. Every client learns that the event is gone, whatever its list: whoever asks for many
/// lists learns no place.
struct ChangeRing: Sendable {
    private struct Entry: Sendable {
        var cursor: LogCursor
        var id: EventID
        var before: EventPlace?
        var after: EventPlace?
    }

    /// A change that a client must learn.
    struct Missed: Hashable {
        var cursor: LogCursor
        var id: EventID
        /// Whether a list with the filter shows the event before and after the change.
        var before: Bool
        var after: Bool

        var position: Int64 { cursor.position }
    }

    /// Maximum number of changes: a minute of 1,000 changes a second, in 6 MB. Heartbeats renew the positions of clients more often.
    static let limit = 60_000
    /// Maximum number of erasures, which every client's replay has.
    private static let erasureLimit = 1_000
    /// A replay computes the distance of at most this many changes near the area of its client, so the time of a replay is bounded.
    static let replayLimit = 8_192

    /// The ring has every change after this position.
    private(set) var floor: Int64
    /// The ring has every change up to this cursor.
    private(set) var end: LogCursor
    private var entries: Deque<Entry> = []
    /// Erased events whose places ``forgetErased()`` has not removed yet. No client learns them any more.
    private var erased: Set<EventID> = []
    /// The erasures behind the floor, in order.
    private var erasures: Deque<(cursor: LogCursor, id: EventID)> = []
    private let limit: Int

    init(at cursor: LogCursor, limit: Int = Self.limit) {
        (floor, end) = (cursor.position, cursor)
        self.limit = limit
        // A growing deque would take up to twice the memory, and copy all changes. Memory that was never used is not resident.
        entries.reserveCapacity(limit + 1)
    }

    var count: Int { entries.count }

    mutating func append(_ change: EventChange) {
        end = change.cursor
        if change.isErasure {
            erased.insert(change.id)
            erasures.append((change.cursor, change.id))
            if erasures.count > Self.erasureLimit, let oldest = erasures.popFirst() { floor = max(floor, oldest.cursor.position) }
            return
        }
        entries.append(Entry(cursor: change.cursor, id: change.id, before: change.before, after: change.after))
        if entries.count > limit, let oldest = entries.popFirst() { floor = max(floor, oldest.cursor.position) }
        while let first = erasures.first, first.cursor.position <= floor { erasures.removeFirst() }
    }

    /// Forgets where erased events took place. It reads all changes, so that it is called once for many erasures.
    mutating func forgetErased() {
        guard !erased.isEmpty else { return }
        for index in entries.indices where erased.contains(entries[index].id) {
            (entries[index].before, entries[index].after) = (nil, nil)
        }
        erased = []
    }

    /// The log has no further change up to this cursor.
    mutating func reached(_ cursor: LogCursor) { if cursor.position > end.position { end = cursor } }

    /// The changes after a position that concern the lists with an area and a filter, in order; `nil` if the ring does not have all of
    /// them any longer, or if they are more than a replay may have.
    func missed(after position: Int64, in area: EventArea, _ filter: ChangeFilter) -> [Missed]? {
        guard position >= floor else { return nil }
        let (latitudes, longitudes) = area.degrees
        func isNear(_ place: EventPlace?) -> Bool {
            guard let place, latitudes.contains(place.coordinates.lat) else { return false }
            return longitudes.contains { $0.contains(place.coordinates.lon) }
        }
        func shows(_ place: EventPlace?) -> Bool { place.map(filter.shows) == true }
        var changes: [Missed] = []
        var compared = 0
        for entry in entries[entries.partitioningIndex { $0.cursor.position > position }...]
        where isNear(entry.before) || isNear(entry.after) {
            compared += 1
            guard compared <= Self.replayLimit else { return nil }
            let (before, after) = (shows(entry.before), shows(entry.after))
            guard before || after, !erased.contains(entry.id) else { continue }
            changes.append(Missed(cursor: entry.cursor, id: entry.id, before: before, after: after))
        }
        let gone = erasures.reversed().prefix { $0.cursor.position > position }.map {
            Missed(cursor: $0.cursor, id: $0.id, before: true, after: false)
        }
        guard !gone.isEmpty else { return changes }
        return (changes + gone).sorted { $0.position < $1.position }
    }
}

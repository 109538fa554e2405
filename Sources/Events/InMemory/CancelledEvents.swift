internal import DequeModule
internal import Encoding
internal import SpatialIndex

/// The events that were cancelled lately, as a node keeps them beside the live ones: a calendar program shows an event until it hears that
/// it is cancelled.
///
/// An event that is hidden or erased meanwhile goes at once. A hidden one that is shown again does not come back.
struct CancelledEvents: Sendable {
    /// The number of days for which calendars and pages show a cancelled event.
    static let days = 30
    /// Maximum number of events: those that were cancelled last, in about 40 MB.
    static let limit = 100_000
    /// Maximum number of further events that one change removes, because a commit waits for it.
    private static let sweptAtOnce = 16

    let index = EventIndex()
    /// The same events by their owners.
    private(set) var owned = OwnedEvents()
    /// In the order of their cancellations. The index may not have them any more.
    private var order: Deque<EventID> = []

    init(_ loaded: [(id: EventID, event: HeldEvent)], position: Int64) {
        var batch = EventIndex.Batch()
        for (id, event) in Self.newest(loaded) {
            batch.put(id, event)
            order.append(id)
            owned.append(id, of: event.owner)
        }
        owned.sort()
        index.apply(batch, position: position)
    }

    /// Bytes of memory, by estimate.
    var bytes: Int { index.snapshot.bytes + index.backlogBytes + owned.bytes(of: index.snapshot.count) }

    /// The last cancelled ones, at most ``limit``, in the order of their cancellations.
    static func newest(_ events: [(id: EventID, event: HeldEvent)]) -> ArraySlice<(id: EventID, event: HeldEvent)> {
        events.sorted { ($0.event.note.revisedAt, $0.id.rawValue) < ($1.event.note.revisedAt, $1.id.rawValue) }.suffix(limit)
    }

    /// Whether calendars still show an event that was cancelled then.
    static func shows(_ cancelledAt: Timestamp, at now: Timestamp) -> Bool {
        now.milliseconds - cancelledAt.milliseconds < Int64(days) * 86_400_000
    }

    /// Applies changed events, and removes some of those that are too old or too many.
    mutating func apply(_ changed: [EventID: IndexChanges.Outcome], position: Int64) {
        let concerned = changed.filter { $0.value.isWithdrawn || $0.value.cancelled != nil }
        guard !concerned.isEmpty else { return }
        var batch = EventIndex.Batch()
        var now = Timestamp(milliseconds: 0)
        for (id, outcome) in concerned {
            if outcome.isWithdrawn {
                batch.remove(id)
                if let owner = index.snapshot.event(id)?.owner { owned.change(id, of: owner, isHeld: false) }
            } else if let event = outcome.cancelled {
                batch.put(id, event)
                order.append(id)
                owned.change(id, of: event.owner, isHeld: true)
                now = max(now, event.note.time)
            }
        }
        index.apply(batch, position: position)
        sweep(concerned.count + Self.sweptAtOnce, at: now, position: position)
    }

    private mutating func sweep(_ count: Int, at now: Timestamp, position: Int64) {
        let snapshot = index.snapshot
        var (batch, removed) = (EventIndex.Batch(), 0)
        for _ in 0..<count {
            guard let oldest = order.first else { break }
            if let event = snapshot.event(oldest) {
                guard snapshot.count - removed > Self.limit || !Self.shows(event.eventNote.time, at: now) else { break }
                batch.remove(oldest)
                owned.change(oldest, of: event.owner, isHeld: false)
                removed += 1
            }
            order.removeFirst()
        }
        if removed > 0 { index.apply(batch, position: position) }
    }
}

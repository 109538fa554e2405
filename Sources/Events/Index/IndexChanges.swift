internal import EventStore
internal import SpatialIndex
internal import Users

/// An event as the index keeps it.
struct HeldEvent: Sendable, Hashable {
    var owner: UserID
    var version: Int32
    var place: EventPlace
    var note = EventNote()
    /// The event as lists show it.
    var json: [UInt8]
    /// The words by which searches find it.
    var words: [UInt8] = []
}

/// The changes of a segment of the log, computed from its recorded events and the events before it.
struct IndexChanges: Sendable {
    /// One for each recorded event, in order.
    private(set) var changes: [EventChange] = []
    /// The changed events as the segment leaves them.
    private(set) var events: [EventID: Outcome] = [:]

    struct Outcome: Sendable, Hashable {
        var version: Int32
        /// `nil` for a cancelled, hidden or erased event.
        var event: HeldEvent?
        /// The event as its cancellation in the segment left it.
        var cancelled: HeldEvent?
        /// Whether the event was hidden or erased in the segment, so that calendars show it no more, even as a cancelled one.
        var isWithdrawn = false
    }

    /// A change of an event that is not held changes nothing, as an UPDATE without a row: the event is cancelled or hidden, because every
    /// stream begins with `EventCreated`. The rules refuse such changes, but an imported log may have them.
    /// - Parameter before: returns the event before the segment; `nil` for a cancelled, hidden or unknown one
    init(
        _ recorded: some Sequence<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>, render: EventRendering,
        before: (EventID) -> HeldEvent?
    ) {
        for (position, envelope) in recorded {
            guard let id = EventID(stream: envelope.stream) else { continue }
            let old = if let known = events[id] { known.event } else { before(id) }
            var row = EventRow(id: id, version: envelope.version)
            row.apply(envelope)
            // The index has nothing of a hidden event.
            if case .unhidden(let shown?) = envelope.event { row.apply(shown) }
            let new = row.applied(to: old, render)
            var outcome = events[id] ?? Outcome(version: 0)
            (outcome.version, outcome.event) = (envelope.version, new)
            if row.isCancelled == true, var cancelled = old {
                (cancelled.version, cancelled.note.revisedAt) = (envelope.version, EventNote.seconds(envelope.recordedAt))
                outcome.cancelled = cancelled
            }
            if row.isHidden == true || row.isErased { outcome.isWithdrawn = true }
            events[id] = outcome
            changes.append(
                EventChange(
                    cursor: LogCursor(position: position, of: envelope), id: id, before: old?.place, after: new?.place,
                    json: new?.json ?? [], words: new?.words ?? [], isErasure: row.isErased))
        }
    }
}

extension EventRow {
    /// The event as the index keeps it; `nil` for a cancelled, hidden or erased event, and for one that was not there.
    fileprivate func applied(to old: HeldEvent?, _ render: EventRendering) -> HeldEvent? {
        guard isCancelled != true, isHidden != true, !isErased, let owner = owner ?? old?.owner else { return nil }
        var new = old
        if let details {
            new = HeldEvent(Event(id: id, owner: owner, version: version, details: details, revisedAt: revisedAt), by: render)
        }
        new?.version = version
        new?.note.revisedAt = EventNote.seconds(revisedAt)
        return new
    }
}

extension EventIndex.Batch {
    /// - Parameter isMend: whether the events replace those of the index in any case, and not only earlier versions
    init(_ events: [EventID: IndexChanges.Outcome], isMend: Bool = false) {
        self.init()
        for (id, outcome) in events {
            if isMend { remove(id) }
            if let event = outcome.event {
                put(id, event)
            } else {
                remove(id)
            }
        }
    }
}

extension HeldEvent {
    init(_ event: Event, by render: EventRendering) {
        var json: [UInt8] = []
        let note = event.writeListed(by: render, into: &json)
        self.init(
            owner: event.owner, version: event.version, place: event.details.place, note: note, json: json,
            words: event.details.words)
    }

    init(_ entry: EventIndex.Entry) {
        self.init(
            owner: entry.owner, version: entry.version, place: entry.place, note: entry.eventNote, json: entry.payload,
            words: entry.words)
    }
}

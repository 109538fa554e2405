internal import EventStore
internal import SpatialIndex
internal import Users

/// An event as the index and ``HiddenEvents`` keep it.
struct HeldEvent: Sendable, Hashable {
    var owner: UserID
    var version: Int32
    var place: EventPlace
    /// The event as the API shows it.
    var json: [UInt8]
    /// A hidden event is kept beside the index.
    var isHidden = false

    /// Where lists show the event; `nil` if they do not show it.
    var shownPlace: EventPlace? { isHidden ? nil : place }
}

/// The changes of a segment of the log, computed from its recorded events and the events before it.
struct IndexChanges: Sendable {
    /// One for each recorded event, in order.
    private(set) var changes: [EventChange] = []
    /// The changed events as the segment leaves them.
    private(set) var events: [EventID: Outcome] = [:]

    struct Outcome: Sendable, Hashable {
        var version: Int32
        /// `nil` for a cancelled or erased event.
        var event: HeldEvent?
    }

    /// A change of an event that is not held changes nothing, as an UPDATE without a row: the event is cancelled, because every stream
    /// begins with `EventCreated`. The rules refuse such changes, but an imported log may have them.
    /// - Parameter before: returns the event before the segment; `nil` for a cancelled or unknown one
    init(
        _ recorded: some Sequence<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>, render: EventRendering,
        before: (EventID) -> HeldEvent?
    ) {
        for (position, envelope) in recorded {
            guard let id = EventID(stream: envelope.stream) else { continue }
            let old = if let known = events[id] { known.event } else { before(id) }
            var row = EventRow(id: id, version: envelope.version)
            row.apply(envelope.event, version: envelope.version)
            let new = row.applied(to: old, render)
            events[id] = Outcome(version: envelope.version, event: new)
            let after = new?.shownPlace
            changes.append(
                EventChange(
                    cursor: LogCursor(position: position, of: envelope), id: id, before: old?.shownPlace, after: after,
                    json: after == nil ? [] : new?.json ?? [], isErasure: row.isErased))
        }
    }
}

extension EventRow {
    /// The event as the index keeps it; `nil` for a cancelled or erased event, and for one that was not there.
    fileprivate func applied(to old: HeldEvent?, _ render: EventRendering) -> HeldEvent? {
        guard isCancelled != true, !isErased, let owner = owner ?? old?.owner else { return nil }
        var new = old
        if let details {
            var json: [UInt8] = []
            render(Event(id: id, owner: owner, version: version, details: details), &json)
            new = HeldEvent(owner: owner, version: version, place: details.place, json: json, isHidden: old?.isHidden == true)
        }
        new?.version = version
        if let isHidden { new?.isHidden = isHidden }
        return new
    }
}

extension EventIndex.Batch {
    /// - Parameter isMend: whether the events replace those of the index in any case, and not only earlier versions
    init(_ events: [EventID: IndexChanges.Outcome], isMend: Bool = false) {
        self.init()
        for (id, outcome) in events {
            if isMend { remove(id) }
            if let event = outcome.event, !event.isHidden {
                put(id, owner: event.owner, version: event.version, place: event.place, json: event.json)
            } else {
                remove(id)
            }
        }
    }
}

extension HeldEvent {
    init(_ entry: EventIndex.Entry) {
        self.init(
            owner: entry.owner, version: entry.version, place: entry.place, json: entry.payload)
    }
}

/// The hidden events, which the index leaves out, each as it comes back into the index. There are few: operators hide events one by one.
struct HiddenEvents: Sendable {
    private(set) var events: [EventID: HeldEvent]
    /// Bytes of memory that their JSON takes.
    private(set) var bytes: Int

    init(_ events: [EventID: HeldEvent] = [:]) {
        self.events = events
        bytes = events.values.reduce(0) { $0 + $1.json.count }
    }

    mutating func apply(_ changed: [EventID: IndexChanges.Outcome]) {
        for (id, outcome) in changed {
            bytes -= events.removeValue(forKey: id)?.json.count ?? 0
            guard let event = outcome.event, event.isHidden else { continue }
            events[id] = event
            bytes += event.json.count
        }
    }
}

package import Encoding

/// Where and when an event takes place: all that decides whether a list shows the event.
package struct EventPlace: Sendable, Hashable {
    package var coordinates: Coordinates
    package var startedAt: Timestamp
    /// The last moment of the event, not before `startedAt`. Equal to it for an event without an end.
    package var endsAt: Timestamp

    package init(coordinates: Coordinates, startedAt: Timestamp, endsAt: Timestamp) {
        self.coordinates = coordinates
        self.startedAt = startedAt
        self.endsAt = endsAt
    }
}

extension EventDetails {
    package var place: EventPlace {
        EventPlace(coordinates: coordinates, startedAt: startedAt, endsAt: max(startedAt, endedAt ?? startedAt))
    }
}

/// One recorded event as a stream of changes sees it: the event of the app before and after it.
package struct EventChange: Sendable {
    /// The position of the recorded event in the log.
    package var position: Int64
    package var id: EventID
    /// `nil` if no list showed the event before: it did not exist, was cancelled, or was hidden.
    package var before: EventPlace?
    /// `nil` if no list shows the event from this position on.
    package var after: EventPlace?
    /// The event as `GET /v1/events/{id}` answers it. Empty if `after` is `nil`.
    package var json: [UInt8]

    package init(position: Int64, id: EventID, before: EventPlace?, after: EventPlace?, json: [UInt8]) {
        self.position = position
        self.id = id
        self.before = before
        self.after = after
        self.json = json
    }
}

/// Receives the changes of the in-memory index in the order of the log, each position once.
package protocol EventChangeListener: Sendable {
    /// The index is loaded and holds the log up to this position. Earlier changes are not known.
    func indexLoaded(at position: Int64)

    /// The index holds the log up to this position. Called under the index's write lock: it must not wait.
    /// - Parameter changes: all changes since the last call, ordered by position
    func indexApplied(_ changes: [EventChange], through position: Int64)

    /// The index is out of use, and its next state need not continue this one.
    func indexClosed()
}

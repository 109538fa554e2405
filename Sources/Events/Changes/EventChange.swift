package import Encoding
package import EventStore

/// Where and when an event takes place: all that decides whether a list shows the event.
package struct EventPlace: Sendable, Hashable {
    package var coordinates: Coordinates
    package var startedAt: Timestamp
    /// The last moment of the event, not before `startedAt`.
    package var endsAt: Timestamp

    /// The duration of an event without an end, or with one before its start.
    static let openHours = 3
}

extension EventPlace {
    package init(coordinates: Coordinates, startedAt: Timestamp, endedAt: Timestamp?) {
        let end = endedAt.flatMap { $0 < startedAt ? nil : $0 }
        let open = Timestamp(milliseconds: startedAt.milliseconds + Int64(Self.openHours) * 3_600_000)
        self.init(coordinates: coordinates, startedAt: startedAt, endsAt: end ?? open)
    }
}

extension EventDetails {
    package var place: EventPlace { EventPlace(coordinates: coordinates, startedAt: startedAt, endedAt: endedAt) }
}

/// One recorded event as a stream of changes sees it: the event of the app before and after it.
package struct EventChange: Sendable {
    /// The cursor of the recorded event in the log.
    package var cursor: LogCursor
    package var id: EventID
    /// `nil` if no list showed the event before: it did not exist, was cancelled, or was hidden.
    package var before: EventPlace?
    /// `nil` if no list shows the event from this position on.
    package var after: EventPlace?
    /// The event as lists show it. Empty if `after` is `nil`.
    package var json: [UInt8]
    /// The words by which searches find the event. Empty if `after` is `nil`.
    package var words: [UInt8] = []
    /// The event was erased: nobody may learn where it took place.
    package var isErasure = false

    package var position: Int64 { cursor.position }
}

/// Receives the changes of the in-memory index in the order of the log, each position once.
package protocol EventChangeListener: Sendable {
    /// The index is loaded and holds the log up to this cursor. Earlier changes are not known.
    func indexLoaded(at cursor: LogCursor)

    /// The index holds the log up to this cursor. Called under the index's write lock: it must not wait.
    /// - Parameter changes: all changes since the last call, ordered by position
    func indexApplied(_ changes: [EventChange], through cursor: LogCursor)

    /// The index is out of use, and its next state need not continue this one.
    func indexClosed()
}

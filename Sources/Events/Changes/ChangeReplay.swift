internal import EventStore

/// The lines with which a client continues from an earlier position: only the last state of each event, and nothing of an event that
/// was changed, cancelled or hidden since.
///
/// Each line has the cursor of its change. A client that loses its connection between two lines continues from there. So a `gone`
/// is sent even if a later `put` follows: between the two the client must not show the event. A `put` is left out if a later change of
/// the event follows, because that change brings the event, or takes it away.
struct ChangeReplay {
    /// Maximum number of bytes. A client that lacks more reads the list again.
    static let limitBytes = 524_288

    private(set) var lines: [UInt8]
    private(set) var count = 0
    /// The position of the last line.
    private var last: Int64

    /// - Parameter after: the client has every change up to this cursor
    /// - Returns: `nil` if the client must read its list again
    init?(of ring: ChangeRing, for subscription: ChangeSubscription, after: LogCursor) {
        guard let missed = ring.missed(after: after.position, in: subscription.area, subscription.filter) else { return nil }
        lines = ChangeLines.opening(at: after)
        last = after.position
        let newest = Dictionary(missed.map { ($0.id, $0.position) }) { $1 }
        // The events that the client has not and that a change put into its list, without a line.
        var unsent: Set<EventID> = []
        for change in missed {
            let isNewest = newest[change.id] == change.position
            // The index may be ahead of the ring, and may show the event no longer.
            let event = change.after && isNewest ? subscription.present(change.id) : nil
            if let event, subscription.filter.shows(event.place, with: event.words) {
                append(ChangeLines.put(change.cursor, event.json), at: change.position)
            } else if change.after, !change.before {
                unsent.insert(change.id)
            } else if !change.after || event.map({ subscription.filter.shows($0.place) }) == true {
                // The event took place elsewhere from here on, or it has other words.
                if unsent.remove(change.id) == nil {
                    append(ChangeLines.gone(change.cursor, change.id), at: change.position)
                }
            }
            guard lines.count <= Self.limitBytes else { return nil }
        }
        if ring.end.position > last { lines += ChangeLines.heartbeat(at: ring.end) }
    }

    private mutating func append(_ line: [UInt8], at position: Int64) {
        lines += line
        count += 1
        last = position
    }
}

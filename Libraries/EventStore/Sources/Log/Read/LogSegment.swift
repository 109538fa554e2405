/// A part of the log without a gap, with its recorded events of one type of domain events.
package struct LogSegment<Event: DomainEvent>: Sendable {
    /// The segment begins after this position.
    package let after: Int64
    /// The last cursor of the segment.
    package private(set) var end: LogCursor
    private var events: [(position: Int64, envelope: EventEnvelope<Event>)]

    package var through: Int64 { end.position }

    package init(after: Int64, end: LogCursor, events: [(position: Int64, envelope: EventEnvelope<Event>)]) {
        self.after = after
        self.end = end
        self.events = events
    }

    /// - Throws: `FormatError`
    package init(_ page: LogPage) throws {
        after = page.after.position
        end = page.end
        events = try page.events.map { ($0.position, try $0.decoded()) }
    }

    package init(_ commit: Commit) {
        after = commit.firstPosition - 1
        end = commit.end
        events = zip(commit.firstPosition..., commit.envelopes).compactMap { position, envelope in
            envelope.of(Event.self).map { (position, $0) }
        }
    }

    /// The recorded events after a position, in order.
    package func events(after position: Int64) -> ArraySlice<(position: Int64, envelope: EventEnvelope<Event>)> {
        events.drop { $0.position <= position }
    }

    /// Adds the recorded events that a later segment has beyond the end of this one.
    mutating func append(_ next: LogSegment) {
        events += next.events.drop { $0.position <= through }
        end = next.end
    }
}

/// Segments of the log that wait until an earlier part of the log arrives. Two transactions of a process are under way, so that its
/// commits may arrive out of order.
package struct ReorderBuffer<Event: DomainEvent>: Sendable {
    /// Maximum number of waiting segments. A further segment is dropped, and later read from the log.
    private static var limit: Int { 1_000 }

    /// The end of the log in the reader's memory; `nil` while the reader loads, and after it gave its memory up.
    package private(set) var reached: LogCursor?
    private var segments: [LogSegment<Event>] = []

    package init() {}

    package mutating func open(at cursor: LogCursor) { reached = cursor }

    package mutating func close() { self = ReorderBuffer() }

    /// Joins a segment with the waiting segments that follow it.
    /// - Returns: `nil` if the segment holds no new position, or if an earlier part is missing and the segment waits
    package mutating func join(_ segment: LogSegment<Event>) -> LogSegment<Event>? {
        guard let position = reached?.position, segment.through > position else { return nil }
        guard segment.after <= position else {
            if segments.count < Self.limit { segments.append(segment) }
            return nil
        }
        var joined = segment
        while let next = segments.firstIndex(where: { $0.after <= joined.through }) {
            let next = segments.remove(at: next)
            if next.through > joined.through { joined.append(next) }
        }
        reached = joined.end
        return joined
    }
}

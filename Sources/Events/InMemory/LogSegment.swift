internal import EventStore

/// A part of the log without a gap, with its recorded events of events.
struct LogSegment: Sendable {
    typealias Recorded = (position: Int64, envelope: EventEnvelope<EventDomainEvent>)

    /// The segment begins after this position.
    let after: Int64
    /// The last cursor of the segment.
    private(set) var end: LogCursor
    private(set) var events: [Recorded] = []

    init(after: Int64, end: LogCursor, events: [Recorded] = []) {
        self.after = after
        self.end = end
        self.events = events
    }

    /// - Throws: `FormatError`
    init(_ page: LogPage) throws {
        after = page.after.position
        end = page.end
        events = try page.events.map { ($0.position, try $0.decoded()) }
    }

    init(_ commit: Commit) {
        after = commit.firstPosition - 1
        end = commit.end
        events = zip(commit.firstPosition..., commit.envelopes).compactMap { position, envelope in
            envelope.of(EventDomainEvent.self).map { (position, $0) }
        }
    }

    /// Adds what another segment has beyond the end of this one.
    mutating func append(_ next: LogSegment) {
        guard next.end.position > end.position else { return }
        events += next.events.drop { $0.position <= end.position }
        end = next.end
    }
}

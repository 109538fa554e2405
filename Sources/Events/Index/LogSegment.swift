internal import EventStore

/// A part of the log without a gap, with its recorded events of this module.
struct LogSegment: Sendable {
    /// It begins behind this position.
    let after: Int64
    /// And ends here.
    private(set) var end: LogCursor
    private var events: [(position: Int64, envelope: EventEnvelope<EventDomainEvent>)]

    var through: Int64 { end.position }

    init(after: Int64, end: LogCursor, events: [(position: Int64, envelope: EventEnvelope<EventDomainEvent>)]) {
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

    /// What happened behind a position, in order.
    func envelopes(after position: Int64) -> [EventEnvelope<EventDomainEvent>] {
        events.drop { $0.position <= position }.map(\.envelope)
    }

    /// Adds what a later one has beyond this one's end.
    mutating func append(_ next: LogSegment) {
        events += next.events.drop { $0.position <= through }
        end = next.end
    }
}

/// Stretches of the log that have come before what stands before them.
struct ReorderBuffer: Sendable {
    /// What does not fit in is read from the log in its time.
    private static let limit = 1_000

    /// Where what the index has of the log ends; nil while the index is being filled, or was given up.
    private(set) var reached: LogCursor?
    private var segments: [LogSegment] = []

    mutating func open(at cursor: LogCursor) { reached = cursor }

    mutating func close() { self = ReorderBuffer() }

    /// Joins a segment with the waiting segments that follow it.
    /// - Returns: nil if the segment holds no new position, or if it does not follow on the reached position and waits from now
    ///   on
    mutating func join(_ segment: LogSegment) -> LogSegment? {
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

internal import EventStore

/// A part of the log without a gap, with its recorded events of events.
struct LogSegment: Sendable {
    /// The segment begins after this position.
    let after: Int64
    /// The last cursor of the segment.
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

    /// The recorded events after a position, in order.
    func events(after position: Int64) -> ArraySlice<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)> {
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
struct ReorderBuffer: Sendable {
    /// Maximum number of waiting segments. A further segment is dropped, and later read from the log.
    private static let limit = 1_000
    /// Number of positions whose marks the buffer knows: twice the positions of two transactions.
    private static let knownPositions: Int64 = 4_000

    /// The end of the log in the reader's memory; `nil` while the reader loads, and after it gave its memory up.
    private(set) var reached: LogCursor?
    private var segments: [LogSegment] = []
    /// The marks of the last recorded events in the reader's memory, by position.
    private var marks: [Int64: UInt32] = [:]

    /// A buffer that drops all segments.
    init() {}

    /// - Parameter cursor: the end of the log in the reader's memory
    init(after cursor: LogCursor) {
        reached = cursor
        marks[cursor.position] = cursor.mark
    }

    /// Whether the segment has no other recorded event at a known position. If it has, the log lost its end, for example in a fail-over,
    /// and gave the position again.
    func agrees(with segment: LogSegment) -> Bool {
        guard let reached, segment.after < reached.position else { return true }
        let cursors = segment.events(after: 0).map { LogCursor(position: $0, of: $1) } + [segment.end]
        return cursors.allSatisfy { $0.agrees(with: LogCursor(position: $0.position, mark: marks[$0.position])) }
    }

    /// Joins a segment with the waiting segments that follow it.
    /// - Returns: `nil` if the segment holds no new position, or if an earlier part is missing and the segment waits
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
        for (position, envelope) in joined.events(after: position) {
            marks[position] = LogCursor(position: position, of: envelope).mark
        }
        if let mark = joined.end.mark { marks[joined.through] = mark }
        if marks.count > 2 * Self.knownPositions { marks = marks.filter { $0.key > joined.through - Self.knownPositions } }
        return joined
    }
}

internal import EventStore
internal import Users

/// A part of the log without a gap, with its recorded events of events, and with the users whose tokens it ends.
struct LogSegment: Sendable {
    typealias Recorded = (position: Int64, envelope: EventEnvelope<EventDomainEvent>)

    /// The segment begins after this position.
    let after: Int64
    /// The last cursor of the segment.
    private(set) var end: LogCursor
    private(set) var events: [Recorded] = []
    private(set) var endings: [(position: Int64, user: UserID)] = []

    /// The categories of the streams from which segments are made.
    static let categories: Set = [EventDomainEvent.category, UserDomainEvent.category]

    init(after: Int64, end: LogCursor, events: [Recorded] = []) {
        self.after = after
        self.end = end
        self.events = events
    }

    /// - Throws: `FormatError`
    init(_ page: LogPage) throws {
        after = page.after.position
        end = page.end
        events = try page.events.filter { $0.envelope.stream.category == EventDomainEvent.category }
            .map { ($0.position, try $0.decoded()) }
        endings = page.events.compactMap { Self.ending($0.position, $0.envelope) }
    }

    init(_ commit: Commit) {
        after = commit.firstPosition - 1
        end = commit.end
        events = zip(commit.firstPosition..., commit.envelopes).compactMap { position, envelope in
            envelope.of(EventDomainEvent.self).map { (position, $0) }
        }
        endings = zip(commit.firstPosition..., commit.envelopes).compactMap { Self.ending($0, $1) }
    }

    /// A user's first domain event brings a token, and each later one ends the token before it.
    private static func ending(_ position: Int64, _ envelope: EventEnvelope<some Any>) -> (position: Int64, user: UserID)? {
        guard envelope.version > 1, let user = UserID(stream: envelope.stream) else { return nil }
        return (position, user)
    }

    /// Adds what another segment has beyond the end of this one.
    mutating func append(_ next: LogSegment) {
        guard next.end.position > end.position else { return }
        events += next.events.drop { $0.position <= end.position }
        endings += next.endings.drop { $0.position <= end.position }
        end = next.end
    }
}

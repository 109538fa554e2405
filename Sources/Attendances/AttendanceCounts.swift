package import EventStore
internal import Events
internal import Logging
internal import Postgres
internal import Synchronization

/// The number of attendances of every event, in memory.
///
/// Thread-safe: a lock protects the counts.
final class AttendanceCounts: InMemoryContent {
    typealias Event = AttendanceDomainEvent

    static let name = (subject: "the counts of attendances", verb: "are")
    static let source: any Projection.Type = AttendancesProjection.self
    static let pageLimit: Int64 = 1_000
    static var countQuery: SQL {
        """
        SELECT count(*) FROM (
            SELECT FROM \(identifier: AttendancesProjection.schema).attendances WHERE attended_at IS NOT NULL GROUP BY event_id
        ) AS counted
        """
    }

    /// Maximum number of events with attendances. They take at most 80 MB: 12 bytes for each of 4,194,304 places of a dictionary, and
    /// half as much again while it grows.
    static let eventLimit = 3_000_000
    /// Number of events in one page of a query for all counts.
    private static let queryPage = 50_000

    private struct State: Sendable {
        /// Events without attendances have no entry.
        var counts: [EventID: Int32] = [:]
        /// The counts hold the log up to this position; -1 while they are not loaded.
        var position: Int64 = -1
    }

    let limit: Int
    private let state = Mutex(State())

    init(limit: Int = eventLimit) { self.limit = limit }

    var count: Int { state.withLock { $0.counts.count } }

    var bytes: Int { Self.bytes(capacity: state.withLock { $0.counts.capacity }) }

    /// Bytes of a dictionary with this capacity. Swift's dictionaries have a power of two of places, of which at most three quarters are
    /// taken. A place takes its key, its value and one bit.
    static func bytes(capacity: Int) -> Int {
        guard capacity > 0 else { return 0 }
        let least = (capacity * 4 + 2) / 3
        let places = 1 << (Int.bitWidth - (least - 1).leadingZeroBitCount)
        return places * (MemoryLayout<Int64>.size + MemoryLayout<Int32>.size) + places / 8
    }

    /// - Returns: the count of an event, and the position of the log that it stands for; -1 while the counts are not loaded
    func count(of event: EventID) -> (count: Int32, position: Int64) {
        state.withLock { ($0.counts[event] ?? 0, $0.position) }
    }

    func load(_ connection: LeasedConnection, logger: Logger) async throws -> @Sendable (LogCursor) -> Void {
        var counts: [EventID: Int32] = [:]
        try await Self.forEachCount(connection) { event, count in
            counts[event] = count
            try checkLimit(counts.count)
        }
        return { [self, counts] cursor in state.withLock { $0 = State(counts: counts, position: cursor.position) } }
    }

    func apply(_ events: ArraySlice<(position: Int64, envelope: EventEnvelope<any DomainEvent>)>, through end: LogCursor) {
        state.withLock { state in
            for envelope in events.lazy.compactMap({ $0.envelope.of(AttendanceDomainEvent.self) }) {
                // Added and removed alternate in each stream, so that no count falls below 0.
                let count = state.counts[envelope.event.key.event, default: 0] + envelope.change
                state.counts[envelope.event.key.event] = count > 0 ? count : nil
            }
            state.position = end.position
        }
    }

    func removeAll() { state.withLock { $0 = State() } }

    func checkLimit() throws { try checkLimit(count) }

    private func checkLimit(_ count: Int) throws {
        guard count > limit else { return }
        throw InMemoryLimitError(count: count, description: "more than \(limit) events have attendances")
    }

    /// Meanwhile the counts take up to twice their memory.
    func agrees(in model: InMemoryReadModel<AttendanceCounts>) async throws -> Bool? {
        let (held, position) = state.withLock { ($0.counts, $0.position) }
        return try await model.withTables(atLeast: position) { connection, end in
            var changes: [EventID: Int32] = [:]
            try await LogReader(client: connection).forEach(after: position, through: end) {
                (envelope: EventEnvelope<AttendanceDomainEvent>) in
                changes[envelope.event.key.event, default: 0] += envelope.change
            }
            var rest = held.count + changes.count { held[$0.key] == nil && $0.value > 0 }
            rest -= changes.count { (held[$0.key] ?? 0) + $0.value == 0 && held[$0.key] != nil }
            var isEqual = true
            try await connection.withoutTimeout { connection in
                try await Self.forEachCount(connection) { event, count in
                    rest -= 1
                    if count != (held[event] ?? 0) + (changes[event] ?? 0) { isEqual = false }
                }
            }
            return isEqual && rest == 0
        }
    }

    /// Calls the body with the count of each event that has attendances. All rows at once would take more memory than the counts.
    private static func forEachCount(
        _ connection: LeasedConnection, _ body: (EventID, Int32) throws -> Void
    ) async throws {
        try await connection.query(
            """
            DECLARE counted CURSOR FOR SELECT event_id, count(*) FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE attended_at IS NOT NULL GROUP BY event_id
            """)
        while true {
            let page = try await connection.query(SQL(unsafeText: "FETCH \(queryPage) FROM counted"))
                .decode((Int64, Int64).self)
            for (event, count) in page { try body(EventID(rawValue: event), Int32(clamping: count)) }
            guard !page.isEmpty else { return }
        }
    }
}

extension InMemoryReadModel<AttendanceCounts> {
    /// The count of an event; `nil` if the counts are not in use, or have not reached the position or an acknowledged write.
    func count(of event: EventID, atLeast position: Int64? = nil) -> (count: Int32, position: Int64)? {
        guard state.isInUse else { return nil }
        let counted = content.count(of: event)
        return counted.position >= max(position ?? 0, state.requiredPosition) ? counted : nil
    }
}

extension EventEnvelope<AttendanceDomainEvent> {
    /// The change of the event's count.
    fileprivate var change: Int32 {
        switch event {
        case .added: 1
        case .removed: -1
        // The domain event before it had an odd version if the user attended: added and removed alternate.
        case .erased: version % 2 == 0 ? -1 : 0
        }
    }
}

extension AttendancesModule {
    package var countsStatus: InMemoryStatus { counts?.status ?? InMemoryStatus() }
}

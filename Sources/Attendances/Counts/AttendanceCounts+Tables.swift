internal import EventStore
internal import Events
internal import Logging
internal import Postgres
internal import Synchronization

extension AttendanceCounts {
    /// Seconds between two checks that the read model still has the tables from which the counts were loaded.
    private static let checkSeconds = 1.0
    /// Number of events in one page of a query for all counts.
    private static let queryPage = 50_000

    /// Looks for new tables of the read model until it has some that differ from the counts. A rebuild corrects a wrong read model, and
    /// the counts may have the same errors. They stay in use meanwhile, because a load would send all readers to PostgreSQL.
    /// - Throws: ``CountsReplacedError`` if the counts must be loaded again; `PostgresError`, `CancellationError`
    func watchTables() async throws {
        while true {
            try await Task.sleep(for: .seconds(Self.checkSeconds))
            do {
                let current = try await ReadModelState.of(AttendancesProjection.self, client).tableGeneration
                guard current != state.withLock({ $0.tableGeneration }), mayLoad(), let agreed = try await compare() else {
                    continue
                }
                state.withLock { $0.tableGeneration = agreed }
                logger.notice("the counts of attendances agree with the new tables of their read model")
            } catch let error as PostgresError where error.isUnavailability {
                // The counts stay valid, and the tables can be checked later.
            }
        }
    }

    /// Compares the counts with the read model at one position. Meanwhile the counts take up to twice their memory.
    /// - Returns: the table generation that the counts agree with; `nil` if the comparison is impossible now
    /// - Throws: ``CountsReplacedError`` if the counts differ; `PostgresError`, `LogGapError`, `CancellationError`
    private func compare() async throws -> String? {
        let (held, reached) = state.withLock { ($0.counts, $0.reached) }
        guard let reached else { throw CountsReplacedError() }
        let compared = try await client.withTransaction { connection -> String? in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let model = try await ReadModelState.of(AttendancesProjection.self, connection)
            // If another version of the program appends, the read model follows the log later.
            guard model.position >= reached.position else { return nil }
            let changes = try await changes(after: reached.position, through: model.position, connection)
            let isEqual = try await connection.withoutTimeout { connection in
                var rest = held.count + changes.count { held[$0.key] == nil && $0.value > 0 }
                rest -= changes.count { (held[$0.key] ?? 0) + $0.value == 0 && held[$0.key] != nil }
                var isEqual = true
                try await Self.forEachCount(connection) { event, count in
                    rest -= 1
                    if count != (held[event] ?? 0) + (changes[event] ?? 0) { isEqual = false }
                }
                return isEqual && rest == 0
            }
            guard isEqual else { throw CountsReplacedError() }
            return model.tableGeneration
        }
        // A snapshot fixes rows, but not the names of tables.
        let current = try await ReadModelState.of(AttendancesProjection.self, client).tableGeneration
        return compared == current ? compared : nil
    }

    /// The changes of counts in a range of the log.
    private func changes(
        after position: Int64, through end: Int64, _ connection: LeasedConnection
    ) async throws -> [EventID: Int32] {
        let reader = LogReader(client: connection)
        var (position, changes) = (position, [EventID: Int32]())
        while position < end {
            let page = try await reader.page(after: position, limit: min(Self.pageLimit, end - position), filter: Self.filter)
            guard page.through > position else { throw LogTruncatedError(position: end) }
            for envelope: EventEnvelope<AttendanceDomainEvent> in try page.events.map({ try $0.decoded() }) {
                changes[envelope.event.key.event, default: 0] += envelope.event.change
            }
            position = page.through
        }
        return changes
    }

    /// Calls the body with the count of each event that has attendances. All rows at once would take more memory than the counts.
    static func forEachCount(
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

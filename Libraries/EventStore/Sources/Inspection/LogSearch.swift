internal import Encoding
public import Postgres

/// Finds recorded events, newest first, and reports its progress while it reads.
///
/// The search reads the newest positions directly. For older positions, the index `log.recorded_events_search` excludes the
/// pages that hold no match. Both read page by page, and stop as soon as they have enough matches.
public struct LogSearch: Sendable {
    /// The result of one search.
    public struct SearchResult: Sendable {
        /// Newest first.
        public var events: [RecordedEvent]
        /// The value of `before` for the next search; nil if the search is complete.
        public var continuesBefore: Int64?
        /// Whether the search ended at its limit of positions, before it found enough recorded events.
        public var isOutOfReach: Bool
    }

    /// Number of positions that one statement reads without the index.
    static let nearPage: Int64 = 10_000
    /// Number of newest positions that the search reads without the index.
    static let nearReach: Int64 = 100_000
    /// Number of positions that the first statement with the index searches.
    private static let firstFarPage: Int64 = 1_000_000
    /// Default limit of positions for a search for a text that names neither an actor nor a cause.
    public static let usualReach: Int64 = 1_000_000

    private let client: PostgresClient
    private let criteria: LogCriteria

    public init(client: PostgresClient, criteria: LogCriteria) {
        self.client = client
        self.criteria = criteria
    }

    /// Finds the newest recorded events that match the criteria.
    /// - Parameters:
    ///   - position: the search returns only recorded events before it; nil searches the whole log
    ///   - reach: maximum number of positions that a search for a text reads, if the criteria name neither an actor nor a cause
    ///   - progress: gets the number of searched positions, and the total number
    /// - Throws: ``PostgresError``, ``LogGapError``, ``FormatError``, or `CancellationError`
    public func find(
        before position: Int64? = nil, limit: Int, reach: Int64 = usualReach,
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) async throws -> SearchResult {
        let tail = try await LogReader(client: client).tail()
        let times = try await LogTimes(client: client).positions(since: criteria.since, until: criteria.until)
        let start = min(position ?? .max, tail + 1, times.upperBound)
        let isLimited = criteria.text != nil && !criteria.isNarrow
        let floor = isLimited ? max(times.lowerBound, start - reach) : times.lowerBound
        let nearFloor = criteria.isIndexed ? start - Self.nearReach : 1
        var events: [RecordedEvent] = []
        var end = start
        var farStatements = 0
        while end > floor, events.count < limit {
            let isNear = end > nearFloor
            // A search with a limit uses smaller pages, because the summaries may leave most of a page to read.
            let page = isNear ? Self.nearPage : isLimited ? Self.nearReach : Self.farPage(after: farStatements)
            let first = max(floor, end - page)
            let rest = limit - events.count
            events += try await isNear ? near(first..<end, limit: rest) : far(first..<end, limit: rest)
            end = first
            if !isNear { farStatements += 1 }
            progress(start - end, start - floor)
        }
        let isFull = events.count == limit
        return SearchResult(
            events: events,
            continuesBefore: isFull ? events.last?.position : floor > times.lowerBound ? floor : nil,
            isOutOfReach: !isFull && floor > times.lowerBound
        )
    }

    /// Number of positions that a statement with the index searches.
    ///
    /// Every statement reads the summaries of the whole log, whatever its range. So it searches twice as many positions as the one
    /// before, and the number of statements grows with the logarithm of the log's length.
    /// - Parameter statements: the number of statements with the index before it in the same search
    static func farPage(after statements: Int) -> Int64 { firstFarPage << min(statements, 20) }

    private func near(_ positions: Range<Int64>, limit: Int) async throws -> [RecordedEvent] {
        try await client.query(criteria.nearQuery(positions, limit: limit)).map(RecordedEvent.init)
    }

    private func far(_ positions: Range<Int64>, limit: Int) async throws -> [RecordedEvent] {
        try await client.withLongTransaction { connection in
            try await connection.run(Self.onlyBySummaries)
            return try await connection.query(criteria.farQuery(positions, limit: limit)).map(RecordedEvent.init)
        }
    }

    /// Settings for one transaction. The planner can use only the summaries, independent of its estimate of the log's size.
    static let onlyBySummaries: [SQL] = [
        "SET LOCAL enable_seqscan = off", "SET LOCAL enable_indexscan = off", "SET LOCAL enable_indexonlyscan = off",
        "SET LOCAL enable_bitmapscan = on",
    ]
}

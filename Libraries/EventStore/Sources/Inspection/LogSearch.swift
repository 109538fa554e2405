package import Encoding
package import Postgres

/// The criteria of a search in the log. A recorded event must meet all of them.
///
/// Searches are rare, and every append pays for each index under the log's lock. So one BRIN index serves them: it costs an append 2.5 µs
/// an event, where B-trees would write five random pages. Text has no index; an index of trigrams would be larger than the log.
package struct LogCriteria: Sendable, Hashable {
    package var type: String?
    package var category: String?
    /// The id of the user who caused the recorded event.
    package var actor: Int64?
    package var requestID: String?
    package var traceID: String?
    package var since: Timestamp?
    /// The end of the time range. An event that was recorded at this moment does not match.
    package var until: Timestamp?
    /// A part of the stored data, with the same upper and lower case.
    package var text: String?

    package init(
        type: String? = nil, category: String? = nil, actor: Int64? = nil, requestID: String? = nil, traceID: String? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil, text: String? = nil
    ) {
        (self.type, self.category, self.actor, self.requestID) = (type, category, actor, requestID)
        (self.traceID, self.since, self.until, self.text) = (traceID, since, until, text)
    }

    /// Whether few recorded events can match, because the criteria name one actor or one cause.
    var isNarrow: Bool { actor != nil || requestID != nil || traceID != nil }

    /// Whether the index can exclude pages of the log.
    var isIndexed: Bool { isNarrow || type != nil || category != nil }

    /// Selects the newest matching recorded events of a range of positions.
    /// - Parameter isNear: whether to read the positions by the primary key; else the statement hides them from it, so that the
    ///   summaries of `log.recorded_events_search` exclude pages. They know the other conditions, by the same expressions
    func query(_ positions: Range<Int64>, limit: Int, isNear: Bool) -> SQL {
        let position: SQL = isNear ? "position" : "position + 0"
        var conditions: SQL = "\(position) >= \(positions.lowerBound) AND \(position) < \(positions.upperBound)"
        // Only the conditions that are set. If the query had all conditions, the planner would use no index.
        if let type { conditions = "\(conditions) AND type = \(type)" }
        if let category { conditions = "\(conditions) AND split_part(stream, '-', 1) = \(category)" }
        if let actor { conditions = "\(conditions) AND metadata ->> 'actor' = \(String(actor))" }
        if let requestID { conditions = "\(conditions) AND metadata ->> 'request_id' = \(requestID)" }
        if let traceID { conditions = "\(conditions) AND metadata ->> 'trace_id' = \(traceID)" }
        if let since { conditions = "\(conditions) AND recorded_at >= \(since)" }
        if let until { conditions = "\(conditions) AND recorded_at < \(until)" }
        // Stored data is JSON, where quotation marks and line ends are escaped.
        if let text {
            let escaped = String(JSON.string(text).text.dropFirst().dropLast())
            conditions = "\(conditions) AND (strpos(data::text, \(escaped)) > 0 OR strpos(personal::text, \(escaped)) > 0)"
        }
        return """
            SELECT \(LogReader.columns)
            FROM log.recorded_events WHERE \(conditions) ORDER BY position DESC LIMIT \(Int64(limit))
            """
    }
}

/// Finds recorded events, newest first, and reports its progress while it reads.
///
/// The search reads the newest positions directly. For older positions, the index `log.recorded_events_search` excludes the
/// pages that hold no match. Both read page by page, and stop as soon as they have enough matches.
package struct LogSearch: Sendable {
    /// Number of positions that one statement reads without the index.
    static let nearPage: Int64 = 10_000
    /// Number of newest positions that the search reads without the index.
    static let nearReach: Int64 = 100_000
    /// Number of positions that the first statement with the index searches.
    private static let firstFarPage: Int64 = 1_000_000
    /// Default limit of positions for a search for a text that names neither an actor nor a cause.
    package static let usualReach: Int64 = 1_000_000

    let client: PostgresClient
    let criteria: LogCriteria

    package init(client: PostgresClient, criteria: LogCriteria) { (self.client, self.criteria) = (client, criteria) }

    /// Finds the newest recorded events that match the criteria.
    /// - Parameters:
    ///   - position: the search returns only recorded events before it; nil searches the whole log
    ///   - reach: maximum number of positions that a search for a text reads, if the criteria name neither an actor nor a cause
    ///   - progress: gets the number of searched positions, and the total number
    /// - Returns: the newest first; and the value of `position` for the next search, `nil` if the search is complete
    package func find(
        before position: Int64? = nil, limit: Int, reach: Int64 = usualReach,
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) async throws -> (events: [RecordedEvent], continuesBefore: Int64?) {
        let tail = try await LogReader(client: client).tail()
        let times = try await LogTimes(client: client, tail: tail).positions(since: criteria.since, until: criteria.until)
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
            let query = criteria.query(first..<end, limit: limit - events.count, isNear: isNear)
            events += try await (isNear ? client.query(query) : bySummaries(query)).map(RecordedEvent.init)
            end = first
            if !isNear { farStatements += 1 }
            progress(start - end, start - floor)
        }
        return (events, events.count == limit ? events.last?.position : floor > times.lowerBound ? floor : nil)
    }

    /// Number of positions that a statement with the index searches.
    ///
    /// Every statement reads the summaries of the whole log, whatever its range. So it searches twice as many positions as the one
    /// before, and the number of statements grows with the logarithm of the log's length.
    /// - Parameter statements: the number of statements with the index before it in the same search
    static func farPage(after statements: Int) -> Int64 { firstFarPage << min(statements, 20) }

    private func bySummaries(_ query: SQL) async throws -> Rows {
        try await client.withLongTransaction { connection in
            try await connection.run(Self.onlyBySummaries)
            return try await connection.query(query)
        }
    }

    /// Settings for one transaction. The planner can use only the summaries, independent of its estimate of the log's size.
    static let onlyBySummaries: [SQL] = [
        "SET LOCAL enable_seqscan = off", "SET LOCAL enable_indexscan = off", "SET LOCAL enable_indexonlyscan = off",
        "SET LOCAL enable_bitmapscan = on",
    ]
}

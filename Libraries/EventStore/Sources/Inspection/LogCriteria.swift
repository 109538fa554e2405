public import Encoding
internal import Postgres

/// The criteria of a search in the log. A recorded event must meet all of them.
public struct LogCriteria: Sendable, Hashable {
    public var filter: LogFilter
    /// The id of the user who caused the recorded event.
    public var actor: Int64?
    public var requestID: String?
    public var traceID: String?
    /// The id of a request or of a trace. The search compares it with both.
    public var cause: String?
    public var since: Timestamp?
    /// The end of the time range. An event that was recorded at this moment does not match.
    public var until: Timestamp?
    /// A part of the stored data, with the same upper and lower case.
    public var text: String?

    public init(
        filter: LogFilter = .everything, actor: Int64? = nil, requestID: String? = nil, traceID: String? = nil,
        cause: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil, text: String? = nil
    ) {
        self.filter = filter
        self.actor = actor
        self.requestID = requestID
        self.traceID = traceID
        self.cause = cause
        self.since = since
        self.until = until
        self.text = text
    }
}

extension LogCriteria {
    /// Whether the index can exclude pages of the log.
    var isIndexed: Bool { isNarrow || filter != .everything }

    /// Whether few recorded events can match, because the criteria name one actor or one cause.
    var isNarrow: Bool { actor != nil || requestID != nil || traceID != nil || cause != nil }

    /// Finds matching recorded events in a range of positions, newest first, by the primary key.
    func nearQuery(_ positions: Range<Int64>, limit: Int) -> SQL {
        let place: SQL = "position >= \(positions.lowerBound) AND position < \(positions.upperBound)"
        return newest(limit, of: [select(by: [place] + kind + causes + others, limit: limit)])
    }

    /// Finds matching recorded events with the summaries of `log.recorded_events_search`, by the same expressions.
    ///
    /// A summary holds single values. The query has one condition for each value, because PostgreSQL would apply one condition
    /// for all values only after it has read the index.
    func farQuery(_ positions: Range<Int64>, limit: Int) -> SQL {
        let place: SQL = "position + 0 >= \(positions.lowerBound) AND position + 0 < \(positions.upperBound)"
        let types: [SQL?] = filter.types.isEmpty ? [nil] : filter.types.sorted().map { "type = \($0)" }
        let categories: [SQL?] =
            filter.categories.isEmpty ? [nil] : filter.categories.sorted().map { "split_part(stream, '-', 1) = \($0)" }
        let causes: [SQL?] =
            cause.map { cause in
                [
                    "metadata ->> 'request_id' = \(cause)",
                    "metadata ->> 'trace_id' = \(cause) AND metadata ->> 'request_id' IS DISTINCT FROM \(cause)",
                ]
            } ?? [nil]
        let selections = types.flatMap { type in
            categories.flatMap { category in
                causes.map { select(by: [place] + [type, category, $0].compactMap(\.self) + others, limit: limit) }
            }
        }
        return newest(limit, of: selections)
    }

    private var kind: [SQL] {
        (filter.types.isEmpty ? [] : ["type = ANY(\(filter.types.sorted()))"])
            + (filter.categories.isEmpty ? [] : ["split_part(stream, '-', 1) = ANY(\(filter.categories.sorted()))"])
    }

    private var causes: [SQL] {
        cause.map { ["(metadata ->> 'request_id' = \($0) OR metadata ->> 'trace_id' = \($0))"] } ?? []
    }

    /// Only the conditions that are set. If the query had all conditions, the planner would use no index.
    private var others: [SQL] {
        var conditions: [SQL] = []
        if let actor { conditions.append("metadata ->> 'actor' = \(String(actor))") }
        if let requestID { conditions.append("metadata ->> 'request_id' = \(requestID)") }
        if let traceID { conditions.append("metadata ->> 'trace_id' = \(traceID)") }
        if let since { conditions.append("recorded_at >= \(since)") }
        if let until { conditions.append("recorded_at < \(until)") }
        // Stored data is JSON, where quotation marks and line ends are escaped.
        if let text {
            let escaped = String(JSON.string(text).text.dropFirst().dropLast())
            conditions.append("(strpos(data::text, \(escaped)) > 0 OR strpos(personal::text, \(escaped)) > 0)")
        }
        return conditions
    }

    private func select(by conditions: [SQL], limit: Int) -> SQL {
        """
        (SELECT \(LogReader.columns)
        FROM log.recorded_events WHERE \(conditions.joined(by: " AND ")) ORDER BY position DESC LIMIT \(Int64(limit)))
        """
    }

    private func newest(_ limit: Int, of selections: [SQL]) -> SQL {
        """
        SELECT * FROM (\(selections.joined(by: " UNION ALL "))) AS found ORDER BY position DESC LIMIT \(Int64(limit))
        """
    }
}

extension [SQL] {
    /// - Precondition: the array is not empty
    fileprivate func joined(by separator: String) -> SQL {
        dropFirst().reduce(self[0]) { "\($0)\(SQL(unsafeText: separator))\($1)" }
    }
}

public import Encoding
internal import Postgres

/// The content of the log by category and type. Computing it reads the whole log, page by page.
public struct LogStatistics: Sendable, Hashable {
    public struct Kind: Sendable, Hashable, Comparable {
        public var category: String
        public var type: String

        public static func < (left: Kind, right: Kind) -> Bool { (left.category, left.type) < (right.category, right.type) }
    }

    public struct Figures: Sendable, Hashable {
        public var count: Int64
        /// Bytes of data and metadata in their stored form.
        public var bytes: Int64
        public var firstAt: Timestamp
        public var lastAt: Timestamp

        /// Recorded events per day between the first and the last; nil for less than an hour, which says nothing about a day.
        public var perDay: Double? {
            let days = Double(lastAt.milliseconds - firstAt.milliseconds) / 86_400_000
            return days >= 1 / 24.0 ? Double(count) / days : nil
        }

        fileprivate mutating func add(_ other: Figures) {
            count += other.count
            bytes += other.bytes
            firstAt = min(firstAt, other.firstAt)
            lastAt = max(lastAt, other.lastAt)
        }
    }

    private static let page: Int64 = 50_000

    public private(set) var kinds: [Kind: Figures] = [:]

    /// The figures of all kinds together; nil for an empty log.
    public var total: Figures? {
        kinds.values.dropFirst().reduce(into: kinds.values.first) { total, figures in total?.add(figures) }
    }

    /// - Throws: ``PostgresError``, ``FormatError``, or `CancellationError`
    public init(of reader: LogReader, progress: (_ position: Int64, _ tail: Int64) -> Void = { _, _ in }) async throws {
        let tail = try await reader.tail()
        var position: Int64 = 0
        while position < tail {
            let last = min(position + Self.page, tail)
            let rows = try await reader.client.query(
                """
                SELECT split_part(stream, '-', 1), type, count(*),
                    sum(octet_length(data::text) + octet_length(metadata::text) + coalesce(octet_length(personal::text), 0))::bigint, min(recorded_at), max(recorded_at)
                FROM log.recorded_events WHERE position > \(position) AND position <= \(last) GROUP BY 1, 2
                """
            )
            for (category, type, count, bytes, firstAt, lastAt) in try rows.decode(
                (String, String, Int64, Int64, Timestamp, Timestamp).self)
            {
                let figures = Figures(count: count, bytes: bytes, firstAt: firstAt, lastAt: lastAt)
                let kind = Kind(category: category, type: type)
                if kinds[kind]?.add(figures) == nil { kinds[kind] = figures }
            }
            position = last
            progress(position, tail)
        }
    }
}

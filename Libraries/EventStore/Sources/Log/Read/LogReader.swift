public import Foundation
public import Postgres

/// Reads recorded events. Projections, tools and tests use it; the API reads read models only.
public struct LogReader: Sendable {
    /// Number of recorded events that a replay reads at a time.
    static let replayPage: Int64 = 2_000
    /// The last position that a log can have. Positions are contiguous, so that no log comes near it, and no sum of two overflows.
    package static let positionLimit: Int64 = 1 << 53

    /// The columns from which ``RecordedEvent`` is decoded, in its order.
    static let columns: SQL = "position, id, stream, version, type, format, recorded_at, data, metadata, personal"

    let client: any PostgresQuerying

    public init(client: any PostgresQuerying) { self.client = client }

    /// Reads the next recorded events after a position, at most `limit` of them, in order. Position 0 means the start.
    /// - Throws: ``LogGapError`` if a position is missing.
    public func read(after position: Int64, limit: Int64) async throws -> [RecordedEvent] {
        Array(try await page(after: position, limit: limit, filter: .everything).events.prefix(Int(limit)))
    }

    /// Calls the body with all recorded events after a position, page by page. It reads the next page while the body runs.
    /// - Throws: ``LogGapError``, and the errors of the body
    public func replay(after position: Int64 = 0, _ body: ([RecordedEvent]) async throws -> Void) async throws {
        var page = try await read(after: position, limit: Self.replayPage)
        while let last = page.last {
            async let following = read(after: last.position, limit: Self.replayPage)
            try await body(page)
            page = try await following
        }
    }

    /// The recorded events of one stream after a version, by version, at most `limit` of them.
    /// - Throws: ``PostgresError``, ``FormatError``, or `CancellationError`
    public func read(stream: StreamName, after version: Int32 = 0, limit: Int64 = .max) async throws -> [RecordedEvent] {
        try await select("WHERE stream = \(stream.description) AND version > \(version) ORDER BY version LIMIT \(limit)")
    }

    /// The recorded event at a position.
    /// - Throws: ``PostgresError``, ``LogGapError``, ``FormatError``, or `CancellationError`
    public func read(position: Int64) async throws -> RecordedEvent? {
        try await read(after: position - 1, limit: 1).first { $0.position == position }
    }

    /// The position of the last recorded event; 0 for an empty log.
    /// - Throws: ``FormatError`` if it is beyond ``positionLimit``, which means that positions are missing
    public func tail() async throws -> Int64 {
        let tail: Int64 = try await client.query("SELECT log.tail()").decode(Int64.self).first ?? 0
        guard tail <= Self.positionLimit else { throw FormatError("position \(tail): no log reaches it without a hole") }
        return tail
    }

    /// The last recorded event; nil for an empty log.
    /// - Throws: ``PostgresError``, ``FormatError``, or `CancellationError`
    public func newest() async throws -> RecordedEvent? {
        try await select("ORDER BY position DESC LIMIT 1").first
    }

    /// The last recorded event of a stream; nil if the stream does not exist.
    /// - Throws: ``PostgresError``, ``FormatError``, or `CancellationError`
    public func newest(of stream: StreamName) async throws -> RecordedEvent? {
        try await select("WHERE stream = \(stream.description) ORDER BY version DESC LIMIT 1").first
    }

    /// The last recorded event of a stream with one of these types, up to a version; nil if there is none.
    /// - Throws: ``PostgresError``, ``FormatError``, or `CancellationError`
    public func newest(of stream: StreamName, types: [String], through version: Int32) async throws -> RecordedEvent? {
        try await select(
            """
            WHERE stream = \(stream.description) AND version <= \(version) AND type = ANY(\(types)) ORDER BY version DESC LIMIT 1
            """
        ).first
    }

    /// The streams of the recorded events with these ids, by id.
    /// - Parameter areErased: whether to leave out the streams that do not end with their erasure
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func streams(of ids: [UUID], areErased: Bool = false) async throws -> [UUID: StreamName] {
        let found = try await client.query(
            "SELECT id, stream FROM log.recorded_events WHERE id = ANY(\(ids)) AND (NOT \(areErased) OR log.is_erased(stream))"
        ).decode((UUID, String).self)
        return Dictionary(uniqueKeysWithValues: found.map { ($0, StreamName($1)) })
    }

    /// The recorded events that the end of a query selects.
    private func select(_ clauses: SQL) async throws -> [RecordedEvent] {
        try await client.query("SELECT \(Self.columns) FROM log.recorded_events \(clauses)").map(RecordedEvent.init)
    }

    /// The size of the log on disk, in bytes, with its indexes.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func size() async throws -> Int64 {
        try await client.query("SELECT pg_total_relation_size('log.recorded_events')").decode(Int64.self)[0]
    }

    /// Selects streams with their versions; no row for a stream that does not exist. A subquery a row, which no planner turns into a join
    /// over the whole log.
    static func versions(of streams: [String]) -> SQL {
        """
        SELECT w.stream, r.version FROM unnest(\(streams)) AS w (stream) CROSS JOIN LATERAL (
            SELECT e.version FROM log.recorded_events AS e WHERE e.stream = w.stream ORDER BY e.version DESC LIMIT 1
        ) AS r
        """
    }

    static func query(after position: Int64, limit: Int64) -> SQL {
        "SELECT \(columns) FROM log.recorded_events WHERE position > \(position) ORDER BY position LIMIT \(limit)"
    }
}

/// A position is missing from the log. Positions are contiguous, so a part of the log was lost, or the log was tampered with.
public struct LogGapError: StandstillError, Hashable, CustomStringConvertible {
    public var after: Int64
    public var description: String {
        "The log has a hole after position \(after). Nothing was skipped; restore the log from a backup that has it."
    }
}

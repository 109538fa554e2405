internal import Encoding
internal import Foundation
public import Postgres

/// Selects recorded events.
public struct LogFilter: Sendable, Hashable {
    /// The categories of the streams; empty selects all.
    public var categories: Set<String>
    /// The stored names of domain events; empty selects all.
    public var types: Set<String>

    public init(categories: Set<String> = [], types: Set<String> = []) {
        self.categories = categories
        self.types = types
    }

    public static let everything = LogFilter()

    func wants(_ recorded: RecordedEvent) -> Bool {
        (categories.isEmpty || categories.contains(recorded.envelope.stream.category))
            && (types.isEmpty || types.contains(recorded.envelope.event.type))
    }
}

/// A page of the log.
public struct LogPage: Sendable {
    /// The page begins behind this cursor.
    public var after: LogCursor
    /// The recorded events of the page that match the filter, in order.
    public var events: [RecordedEvent]
    /// The last cursor of the page, even if the filter does not select its recorded event.
    public var end: LogCursor
    /// An instant at which the log ended with this page; `nil` if the page is full, so that the log may go on.
    public var endOfLogAt: ContinuousClock.Instant?
}

extension LogPage {
    public var through: Int64 { end.position }
}

/// The log from a position on, without end. It emits a page whenever the log grows, and from time to time an empty page. The
/// empty page confirms that the log has not grown. The sequence reads a page only when the caller asks for it. So a slow reader
/// blocks no other reader and uses no extra memory.
///
/// While the database is away, the sequence waits and then goes on. It throws ``LogGapError``, ``LogDivergedError``,
/// other errors of PostgreSQL, and `CancellationError` at the end.
public struct LogTail: AsyncSequence, Sendable {
    public static let pageLimit: Int64 = 1_000
    private static let backOffSeconds = 0.25

    let reader: LogReader
    let notifier: LogNotifier
    let after: LogCursor
    let filter: LogFilter
    let pageLimit: Int64
    let reached: @Sendable () -> LogCursor?

    /// - Parameters:
    ///   - notifier: must run
    ///   - reached: returns the cursor up to which the caller knows the log already, for example from its own commits. The
    ///     sequence does not read that part
    public init(
        client: PostgresClient, notifier: LogNotifier, after position: Int64 = 0, filter: LogFilter = .everything,
        pageLimit: Int64 = pageLimit, reached: @escaping @Sendable () -> LogCursor? = { nil }
    ) {
        reader = LogReader(client: client)
        self.notifier = notifier
        after = LogCursor(position: position)
        self.filter = filter
        self.pageLimit = pageLimit
        self.reached = reached
    }

    public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let feed: LogTail
        private var wakes: AsyncStream<Int64>.Iterator
        private var cursor: LogCursor
        private var mayHaveMore = false

        init(feed: LogTail) {
            self.feed = feed
            cursor = feed.after
            wakes = feed.notifier.wakes().makeAsyncIterator()
        }

        /// - Throws: ``LogGapError``, ``LogDivergedError``, ``PostgresError``, or ``FormatError``
        public mutating func next() async throws -> LogPage? {
            while true {
                if !mayHaveMore {
                    guard let position = await wakes.next(isolation: #isolation) else { throw CancellationError() }
                    if let reached = feed.reached(), reached.position > cursor.position { cursor = reached }
                    guard position > cursor.position else { continue }
                }
                try Task.checkCancellation()
                do {
                    let page = try await feed.reader.page(
                        after: cursor.position, limit: feed.pageLimit, filter: feed.filter)
                    guard page.after.mark != nil, page.after.agrees(with: cursor) else {
                        feed.notifier.history.askForCheck()
                        throw LogDivergedError(position: cursor.position)
                    }
                    mayHaveMore = page.through - cursor.position == feed.pageLimit
                    cursor = page.end
                    feed.notifier.saw(page)
                    return page
                } catch let error as PostgresError where error.isUnavailability && error.sqlState != .queryCanceled {
                    mayHaveMore = true
                    try await Task.sleep(for: .seconds(LogTail.backOffSeconds))
                }
            }
        }
    }
}

/// The log has another recorded event at a position than before, or ends before it. The log lost its end, for example in a fail-over,
/// and other recorded events may take the positions.
public struct LogDivergedError: StandstillError, Hashable, CustomStringConvertible {
    public var position: Int64
    public var description: String {
        "Position \(position) of the log holds nothing, or something else than was seen there. What was made of it must be made anew."
    }
}

extension LogReader {
    /// Reads the page after a position, at most `limit` positions long. One statement reads it with the recorded event before it, because
    /// the log may lose its end between two.
    /// - Throws: ``LogGapError``, ``PostgresError``, ``FormatError``, or `CancellationError`
    public func page(after position: Int64, limit: Int64, filter: LogFilter) async throws -> LogPage {
        let askedAt = ContinuousClock.now
        let start = LogCursor(position: position)
        var page = LogPage(after: start, events: [], end: start)
        for row in try await client.query(Self.pageQuery(after: start.position, limit: limit, filter: filter)) {
            let found = try Int64(row.cell(0))
            let cursor = LogCursor(position: found, id: try UUID(row.cell(1)), recordedAt: try? Timestamp(row.cell(6)))
            if found == start.position {
                page.after = cursor
                page.end = page.after
                continue
            }
            guard found == page.through + 1 else { throw LogGapError(after: page.through) }
            page.end = cursor
            if try Bool(row.cell(10)) { page.events.append(try RecordedEvent(row)) }
        }
        if page.through - start.position < limit { page.endOfLogAt = askedAt }
        return page
    }

    /// Selects the recorded event at a position and the next ones, at most `limit`. PostgreSQL sends no data of the
    /// events that the filter leaves out.
    private static func pageQuery(after position: Int64, limit: Int64, filter: LogFilter) -> SQL {
        """
        SELECT position, id, stream, version, type, format, recorded_at,
            CASE WHEN is_selected THEN data END, CASE WHEN is_selected THEN metadata END,
            CASE WHEN is_selected THEN personal END, is_selected
        FROM (
            SELECT \(columns), \(filter == .everything ? "true" : selects(filter)) AS is_selected
            FROM log.recorded_events WHERE position >= \(position) ORDER BY position LIMIT \(position == 0 ? limit : limit + 1)
        ) AS page ORDER BY position
        """
    }

    /// Whether the filter selects a row of the log.
    private static func selects(_ filter: LogFilter) -> SQL {
        """
        ((\(filter.categories.isEmpty) OR split_part(stream, '-', 1) = ANY(\(filter.categories.sorted())))
            AND (\(filter.types.isEmpty) OR type = ANY(\(filter.types.sorted()))))
        """
    }

    /// Returns the present cursor at a position, without a mark if the log does not reach it.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func cursor(at position: Int64) async throws -> LogCursor {
        let query: SQL = "SELECT id, recorded_at FROM log.recorded_events WHERE position = \(position)"
        let found = try await client.query(query).decode((UUID, Timestamp).self).first
        return found.map { LogCursor(position: position, id: $0, recordedAt: $1) } ?? LogCursor(position: position)
    }
}

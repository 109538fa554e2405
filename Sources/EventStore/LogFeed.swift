public import Postgres

/// Which recorded events are wanted.
public struct LogFilter: Sendable, Hashable {
    /// Of streams; empty: all.
    public var categories: Set<String>
    /// Stored names of domain events; empty: all.
    public var types: Set<String>

    public init(categories: Set<String> = [], types: Set<String> = []) {
        self.categories = categories
        self.types = types
    }

    public static let everything = LogFilter()

    func wants(_ recorded: RecordedEvent) -> Bool {
        (categories.isEmpty || categories.contains(recorded.occurrence.stream.category))
            && (types.isEmpty || types.contains(recorded.occurrence.event.type))
    }
}

/// A stretch of the log.
public struct LogPage: Sendable {
    /// The stretch begins behind this position.
    public var after: Int64
    /// Those of the stretch that are wanted, in order.
    public var events: [RecordedEvent]
    /// The last position of the stretch, whether wanted or not.
    public var through: Int64
    /// Just before the database was asked.
    public var askedAt: ContinuousClock.Instant
}

/// The log from a position on, without an end: a page as soon as there is more, and an empty one now and then, which says that
/// there is nothing more. Nothing is read before it is asked for, so a slow reader holds nobody up and fills no memory.
///
/// While the database is away it waits, and goes on where it was. Throws ``HoleInLog``, ``LogTooShort``, what else PostgreSQL
/// refuses, and `CancellationError` at the end.
public struct LogFeed: AsyncSequence, Sendable {
    public static let pageLimit: Int64 = 1_000
    private static let backOffSeconds = 0.25

    let reader: LogReader
    let watch: LogWatch
    let after: Int64
    let filter: LogFilter
    let pageLimit: Int64
    let reached: @Sendable () -> Int64

    /// - Parameters:
    ///   - watch: must run
    ///   - reached: up to where the log is known by other means, since this process has recorded it, say; that is not read
    public init(
        client: PostgresClient, watch: LogWatch, after position: Int64, filter: LogFilter = .everything,
        pageLimit: Int64 = pageLimit, reached: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        reader = LogReader(client: client)
        self.watch = watch
        after = position
        self.filter = filter
        self.pageLimit = pageLimit
        self.reached = reached
    }

    public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let feed: LogFeed
        private var wakes: AsyncStream<Void>.Iterator
        private var position: Int64
        private var mayHaveMore = true
        private var rounds: Int

        init(feed: LogFeed) {
            self.feed = feed
            position = feed.after
            rounds = feed.watch.hint.rounds
            wakes = feed.watch.wakes().makeAsyncIterator()
        }

        /// Whether a wake says anything that is not known yet.
        private mutating func isWorthLooking() -> Bool {
            let hint = feed.watch.hint
            defer { rounds = hint.rounds }
            position = Swift.max(position, feed.reached())
            return hint.tail > position || hint.rounds != rounds
        }

        public mutating func next() async throws -> LogPage? {
            while true {
                if !mayHaveMore, !isWorthLooking() {
                    _ = await wakes.next()
                    try Task.checkCancellation()
                    continue
                }
                try Task.checkCancellation()
                do {
                    let page = try await feed.reader.page(after: position, limit: feed.pageLimit, filter: feed.filter)
                    mayHaveMore = page.through - position == feed.pageLimit
                    if page.through == position, try await feed.reader.tail() < position { throw LogTooShort(position: position) }
                    position = page.through
                    return page
                } catch let error as PostgresError where error.isUnavailability && error.sqlState != .queryCanceled {
                    mayHaveMore = true
                    try await Task.sleep(for: .seconds(LogFeed.backOffSeconds))
                }
            }
        }
    }
}

/// The log ends before a position that was seen in it: it lost its end, in a fail-over say, and what stands there by now may be
/// something else.
public struct LogTooShort: Error, Hashable, CustomStringConvertible {
    public var position: Int64
    public init(position: Int64) { self.position = position }
    public var description: String {
        "The log ends before position \(position), which was seen in it. What was made of it must be made anew."
    }
}

extension LogReader {
    /// The stretch behind a position, at most `limit` long.
    /// - Throws: ``HoleInLog``
    public func page(after position: Int64, limit: Int64, filter: LogFilter) async throws -> LogPage {
        let askedAt = ContinuousClock.now
        let stretch = try await rows(after: position, limit: limit, filter: filter)
        return LogPage(
            after: position, events: try stretch.decode(stretch.rows.indices), through: stretch.through, askedAt: askedAt)
    }
}

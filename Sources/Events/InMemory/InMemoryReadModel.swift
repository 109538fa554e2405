package import EventStore
package import Logging
package import Postgres
internal import ServiceLifecycle
internal import SpatialIndex
internal import Synchronization

/// Keeps the events in memory in step with the log, and decides whether requests may read them.
///
/// The content is loaded from the read model's tables at one position. From there it gets the commits of this process before their callers
/// get the results, and the other commits from the log. If a rebuild made other tables, differences are mended in the content. It goes out of
/// use and is loaded again if the log lost its end, or if there are too many differences.
///
/// Thread-safe: a lock orders the changes of the content. Readers of the content do not take it.
package final class InMemoryReadModel: Service {
    /// Maximum seconds that a command waits until the content shows its change, and that a reader waits for a position.
    package static let patienceSeconds = 1.0
    private static let (firstBackOffSeconds, longestBackOffSeconds) = (0.25, 30.0)
    /// Until the next load after an event that this program cannot read. Only another program can read it.
    private static let unreadablePauseSeconds = 600.0
    /// Until the next look at a log with a gap.
    private static let gapPauseSeconds = 30.0
    /// Maximum number of recorded events in one batch from the log, because commits wait for the batch.
    private static let pageLimit: Int64 = 200
    /// Maximum number of waiting segments. A further segment is dropped, and later read from the log.
    private static let waitingLimit = 1_000

    struct Writer: Sendable {
        /// The end of the log in the content; `nil` while it is not loaded.
        var end: LogCursor?
        /// The segments before which a part of the log is missing. Two transactions of a process are under way, so that its commits may
        /// arrive out of order.
        var waiting: [LogSegment] = []
        /// The generation of the log before the load read anything.
        var generation = LogGeneration()
        /// The generation of the read model's tables that the content agrees with; `nil` while it is not loaded.
        var tables: String?
        /// The events that changed in the content since a comparison with new tables began; `nil` without one.
        var changed: Set<EventID>?

        /// Joins a segment with the segments that wait for it, if no earlier part is missing, and moves the end. Otherwise the segment
        /// waits.
        /// - Returns: what follows the end before; `nil` if that is nothing
        mutating func join(_ segment: LogSegment) -> LogSegment? {
            guard let start = end else { return nil }
            var joined = LogSegment(after: start.position, end: start)
            waiting.append(segment)
            while let index = waiting.firstIndex(where: { $0.after <= joined.end.position }) {
                joined.append(waiting.remove(at: index))
            }
            if waiting.count > InMemoryReadModel.waitingLimit { waiting.removeLast() }
            end = joined.end
            return joined.end.position > joined.after ? joined : nil
        }
    }

    let content: EventsInMemory
    let state: InMemoryState
    let endings = TokenEndings()
    let client: PostgresClient
    let notifier: LogNotifier
    let logger: Logger
    private let patienceSeconds: Double
    /// The lock of the content's writers: commits of this process, and the task that reads the log.
    let writer = Mutex(Writer())

    /// - Parameters:
    ///   - notifier: must run
    ///   - staleAfter: the content is stale if it was last known to hold the whole log before this time
    ///   - patienceSeconds: as the property, which servers use
    package init(
        _ content: EventsInMemory, client: PostgresClient, notifier: LogNotifier, staleAfter: Duration = .seconds(3),
        patienceSeconds: Double = patienceSeconds, logger: Logger
    ) {
        self.content = content
        self.client = client
        self.notifier = notifier
        self.logger = logger
        self.patienceSeconds = patienceSeconds
        state = InMemoryState(staleAfter: staleAfter)
    }

    /// The snapshot that requests read; `nil` while the index is not in use.
    var readable: EventIndex.Snapshot? {
        guard state.isInUse else { return nil }
        let snapshot = content.index.snapshot
        // The index may have been dropped since.
        return snapshot.position >= 0 ? snapshot : nil
    }

    /// Loads the content and follows the log until the service group shuts down. After an error it begins again.
    /// - Throws: never; the protocol requires `throws`
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var backOff = BackOff(firstSeconds: Self.firstBackOffSeconds, longestSeconds: Self.longestBackOffSeconds)
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do {
                    try await load()
                    try await stayInStep()
                } catch is CancellationError {
                    return
                } catch let error as UnreadableEventError {
                    // A newer program has written the event, which may erase a person. A load would stop at the same event.
                    writer.withLock { close(&$0) }
                    if state.isBlocked(by: error.reason) {
                        logger.critical(
                            "the index cannot follow the log, and requests do not read it",
                            metadata: ["error": "\(error.reason)"])
                    }
                    try? await Task.sleep(for: .seconds(Self.unreadablePauseSeconds))
                } catch {
                    writer.withLock { close(&$0) }
                    logger.warning("the index is loaded again", metadata: ["because": "\(error)"])
                    // A load is work for the database too, so the pauses between repeated failures grow.
                    let isNew = .now - start > .seconds(Self.longestBackOffSeconds)
                    let isAway = (error as? PostgresError)?.isUnavailability == true
                    if isNew || isAway { backOff.reset() }
                    try? await Task.sleep(for: backOff.next())
                }
            }
        }
    }

    private func stayInStep() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.followWithRetries() }
            group.addTask { try await self.watchTables() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func followWithRetries() async throws {
        while true {
            do { try await follow() } catch let error as FormatError {
                throw UnreadableEventError(reason: error)
            } catch let error as LogGapError {
                // A load would hide the gap. Readers get the content with its age, until it is too old.
                logger.critical("the index cannot follow the log", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.gapPauseSeconds))
            } catch let error as PostgresError where error.isUnavailability {
                // Readers get the content with its age, until it is too old.
                guard !state.isTooOld else { throw error }
                logger.warning("the index may be behind", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.firstBackOffSeconds))
            }
        }
    }

    private func follow() async throws {
        guard end != nil else { throw InMemoryReplacedError() }
        let tail = LogTail(
            client: client, notifier: notifier, filter: LogFilter(categories: LogSegment.categories),
            pageLimit: Self.pageLimit, reached: { [self] in end })
        for try await page in tail {
            try take(LogSegment(page))
            if let instant = page.endOfLogAt { sawEnd(page.through, at: instant) }
        }
    }

    /// The end of the log in the content; `nil` while the content is not loaded.
    private var end: LogCursor? { writer.withLock { $0.end } }

    /// Applies a segment and the segments that wait for it, if no earlier part is missing. Otherwise the segment waits until the missing
    /// part is read from the log. The content goes out of use if the log lost its end: ``LostEndDetector`` gets each commit and each page
    /// before, and compares it with what the process has seen.
    /// - Throws: ``InMemoryReplacedError`` if the log lost its end, and while the content is not loaded
    func take(_ segment: LogSegment) throws {
        try writer.withLock { writer in
            guard writer.end != nil else { throw InMemoryReplacedError() }
            guard writer.generation == notifier.history.generation else {
                close(&writer)
                throw InMemoryReplacedError()
            }
            guard let joined = writer.join(segment) else { return }
            content.apply(joined.events, through: joined.end)
            writer.changed?.formUnion(joined.events.compactMap { EventID(stream: $0.envelope.stream) })
            state.reach(joined.end.position)
            for (_, user) in joined.endings { endings.end(user) }
        }
    }

    /// - Parameter instant: the log ended with this position then
    private func sawEnd(_ position: Int64, at instant: ContinuousClock.Instant) {
        let isNew = writer.withLock { writer in
            guard let end = writer.end, end.position >= position else { return false }
            state.isInStep(at: instant)
            guard !state.isInUse else { return false }
            state.use()
            return true
        }
        guard isNew else { return }
        logger.notice(
            "the index is in use",
            metadata: [
                "events": .stringConvertible(content.count), "megabytes": .stringConvertible(content.bytes / 1_000_000),
                "position": .stringConvertible(state.position),
            ])
    }

    /// Empties the content. Requests that read events get 503 from now on, and streams of changes end. The task that reads the log loads
    /// the content again.
    private func close(_ writer: inout Writer) {
        state.stopUse()
        state.reach(0)
        if writer.end != nil {
            content.removeAll()
            endings.stop()
        }
        writer = Writer()
    }
}

/// The log goes on with an event that this program cannot read.
private struct UnreadableEventError: Error {
    var reason: FormatError
}

extension InMemoryReadModel: CommitListener {
    /// After an error the task that reads the log gets the same one, and handles it.
    package func committed(_ commit: Commit) { try? take(LogSegment(commit)) }
}

extension InMemoryReadModel {
    /// Waits at most ``patienceSeconds`` until the content holds a position.
    /// - Returns: whether the content is in use and holds the position
    func reaches(_ position: Int64) async -> Bool {
        guard state.isInUse else { return false }
        return await state.reaches(position, within: patienceSeconds)
    }
}

/// The content may be wrong, because the log or the read model's tables are not the ones that it was loaded from.
struct InMemoryReplacedError: Error, Hashable, CustomStringConvertible {
    var description: String { "the read model or the log is not the one that was loaded" }
}

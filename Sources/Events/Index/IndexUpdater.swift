package import EventStore
package import Logging
package import Postgres
internal import ServiceLifecycle
internal import SpatialIndex
internal import Synchronization

/// Loads the index of a node from the read model, keeps it in step with the log, and decides whether it may be read.
///
/// The index gets commits of this process before their callers get the results, and reads commits of other processes from the
/// log.
package final class IndexUpdater: Service {
    /// Maximum seconds that a command waits until the index shows its change, and that a reader waits for a requested position.
    static let patienceSeconds = 1.0
    /// An index that was last known to hold the whole log before this time is stale.
    package static let staleAfter = Duration.seconds(3)
    private static let firstBackOffSeconds = 0.25
    private static let longestBackOffSeconds = 30.0
    /// Maximum number of recorded events in one batch, because commits wait for the batch.
    private static let pageLimit: Int64 = 200

    let index = EventIndex()
    let state = IndexState()
    let client: PostgresClient
    let standby: Standby?
    let limitBytes: Int
    private let staleAfter: Duration
    /// Seconds before the first look for room, after the events exceeded the memory limit.
    let roomPauseSeconds: Double
    let render: EventRendering
    let logger: Logger
    let examining = Mutex(false)
    let notifier: LogNotifier
    private let listener: (any EventChangeListener)?
    private let waiters = PositionWaiters()
    /// The lock of the index's writers: commits of this process, and the task that reads the log.
    private let writer = Mutex(Writer())

    private struct Writer: Sendable {
        var buffer = ReorderBuffer<EventDomainEvent>()
        var absent = AbsentEvents()
    }

    /// - Parameters:
    ///   - client: the primary
    ///   - standby: serves the load and the tail of the log while it can; must run
    ///   - notifier: must run
    ///   - limitBytes: the largest size of the index; if the events need more, requests read PostgreSQL instead
    ///   - render: writes an event as the API shows it. The bytes must depend on nothing but id, owner and details, because the index
    ///     keeps them while an event is hidden
    ///   - listener: learns every change of the index
    package init(
        client: PostgresClient, standby: Standby? = nil, notifier: LogNotifier, limitBytes: Int,
        staleAfter: Duration = staleAfter, roomPauseSeconds: Double = roomPauseSeconds, render: @escaping EventRendering,
        listener: (any EventChangeListener)? = nil,
        logger: Logger
    ) {
        self.client = client
        self.standby = standby
        self.notifier = notifier
        self.limitBytes = limitBytes
        self.staleAfter = staleAfter
        self.roomPauseSeconds = roomPauseSeconds
        self.render = render
        self.listener = listener
        self.logger = logger
    }

    /// Loads the index and follows the log until the service group shuts down. After an error it begins again; if the events exceed the
    /// memory limit, when there is room.
    /// - Throws: never; the protocol requires `throws`
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var backOff = BackOff(firstSeconds: Self.firstBackOffSeconds, longestSeconds: Self.longestBackOffSeconds)
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do {
                    try await keep()
                } catch is CancellationError {
                    return
                } catch let error as IndexLimitError {
                    leave(.tooSmall)
                    logger.warning("requests are answered from PostgreSQL", metadata: ["because": "\(error)"])
                    do { try await waitForRoom(after: error) } catch { return }
                } catch {
                    leave(.interrupted)
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

    private func keep() async throws {
        let filled = try await fill()
        writer.withLock { writer in
            writer.buffer.open(at: filled.cursor)
            writer.absent = AbsentEvents(hidden: filled.hidden)
            listener?.indexLoaded(at: filled.cursor.position)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.followWithRetries(filled) }
            group.addTask { try await self.watchTables(filled.tableGeneration) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func followWithRetries(_ filled: IndexLoad) async throws {
        var backOff = BackOff(firstSeconds: Self.firstBackOffSeconds, longestSeconds: Self.longestBackOffSeconds)
        while true {
            do { try await follow(filled) } catch let error as FormatError {
                // A newer program has written the event. A new load would stop at the same event.
                if state.stands(before: error) {
                    backOff.reset()
                    logger.critical("the index cannot follow the log and stays as it is", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: backOff.next())
            } catch let error as PostgresError where error.isUnavailability {
                // The content stays valid, and readers get its age.
                logger.warning("the index may be behind", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.firstBackOffSeconds))
            }
        }
    }

    /// Empties the index. Requests read PostgreSQL from now on.
    private func leave(_ phase: IndexStatus.Phase) {
        writer.withLock { writer in
            close(&writer, phase)
            index.removeAll()
        }
    }

    private func follow(_ filled: IndexLoad) async throws {
        let feed = LogTail(
            client: client, standby: standby, notifier: notifier, after: reached ?? filled.cursor,
            filter: LogFilter(categories: [EventDomainEvent.category]), pageLimit: Self.pageLimit,
            reached: { [self] in reached })
        for try await page in feed {
            let isSameLog = notifier.history.generation == filled.generation
            guard isSameLog, reached != nil else { throw ReadModelReplacedError() }
            try take(LogSegment(page))
            if let instant = page.endOfLogAt { sawEnd(page, at: instant) }
        }
    }

    /// - Parameter instant: the log ended with the page then
    private func sawEnd(_ page: LogPage, at instant: ContinuousClock.Instant) {
        let isNew = writer.withLock { writer in
            guard let reached = writer.buffer.reached, reached.position >= page.through else { return false }
            state.isInStep(at: instant)
            guard !state.isInUse else { return false }
            state.enter(.inUse)
            return true
        }
        guard isNew else { return }
        let snapshot = index.snapshot
        logger.notice(
            "requests are answered from the index",
            metadata: [
                "events": .stringConvertible(snapshot.count), "megabytes": .stringConvertible(snapshot.bytes / 1_000_000),
                "position": .stringConvertible(snapshot.position),
            ])
    }

    /// Applies a segment and the segments that wait for it, if no earlier part is missing. Otherwise the segment waits
    /// until the missing part is read from the log.
    private func take(_ segment: LogSegment<EventDomainEvent>) throws {
        let (position, bytes) = writer.withLock { writer in
            if let joined = writer.buffer.join(segment) { apply(joined, &writer) }
            let snapshot = index.snapshot
            return (snapshot.position, snapshot.bytes + writer.absent.bytes)
        }
        guard bytes <= limitBytes else { throw IndexLimitError(limitBytes: limitBytes, events: index.snapshot.count) }
        waiters.reached(position)
    }

    private func apply(_ segment: LogSegment<EventDomainEvent>, _ writer: inout Writer) {
        let snapshot = index.snapshot
        let changes = IndexChanges(segment.events(after: snapshot.position), render: render) { id in
            writer.absent.hidden[id] ?? snapshot.event(id).map(HeldEvent.init)
        }
        index.apply(EventIndex.Batch(changes), position: segment.through, mark: segment.end.mark)
        writer.absent.apply(changes)
        listener?.indexApplied(changes.changes, through: segment.through)
    }

    /// Bytes of memory of the present content, and of what readers of earlier content still hold.
    var bytes: Int { index.snapshot.bytes + index.backlogBytes + writer.withLock { $0.absent.bytes } }

    /// The present content.
    var held: HeldEvents { writer.withLock { HeldEvents(snapshot: index.snapshot, hidden: $0.absent.hidden) } }

    /// The end of the log in the index; `nil` while the index loads, and after it was given up.
    private var reached: LogCursor? { writer.withLock { $0.buffer.reached } }

    /// Closes the index for readers and writers. The task that reads the log loads it again.
    private func close(_ writer: inout Writer, _ phase: IndexStatus.Phase) {
        if writer.buffer.reached != nil { listener?.indexClosed() }
        writer = Writer()
        state.enter(phase)
    }
}

extension IndexUpdater: CommitListener {
    package func committed(_ commit: Commit) {
        let segment = LogSegment<EventDomainEvent>(commit)
        do { try take(segment) } catch {
            // The task that reads the log gets the same error, and handles it.
            return logger.warning("the index reads a commit from the log", metadata: ["error": "\(error)"])
        }
        writer.withLock { writer in
            guard let reached = writer.buffer.reached, reached.position >= segment.through else { return }
            // If the index holds another event at this position, the log lost its end, for example in a fail-over. The log then
            // continued from an earlier position.
            let isHeld = reached.position == segment.through ? reached == segment.end : isHeld(segment, writer)
            if !isHeld { close(&writer, .interrupted) }
        }
    }

    /// Whether the index holds all changes of a segment.
    private func isHeld(_ segment: LogSegment<EventDomainEvent>, _ writer: Writer) -> Bool {
        let snapshot = index.snapshot
        return segment.events(after: 0).allSatisfy { _, envelope in
            guard let id = EventID(stream: envelope.stream) else { return false }
            return snapshot.event(id)?.version ?? writer.absent.version(of: id) ?? 0 >= envelope.version
        }
    }
}

extension IndexUpdater {
    /// The time since the index was last known to hold the whole log; `nil` while the index is not stale.
    var staleFor: Duration? {
        let age = state.age
        return age > staleAfter ? age : nil
    }

    /// The snapshot if the index is in use and holds every change that was acknowledged here; nil if the request must read
    /// PostgreSQL.
    var readable: EventIndex.Snapshot? {
        guard state.isInUse else { return nil }
        let snapshot = index.snapshot
        return snapshot.position >= state.shown ? snapshot : nil
    }

    /// Waits at most one second until the index holds a position. After that time, requests do not read the index until it holds
    /// the position.
    func show(_ position: Int64) async {
        if await reaches(position) { return }
        state.mustShow(position)
    }

    /// Waits at most one second until the index holds a position.
    /// - Returns: whether the index is in use and holds the position
    func reaches(_ position: Int64) async -> Bool {
        guard state.isInUse else { return false }
        return await waiters.wait(for: position, seconds: Self.patienceSeconds) { [index] in index.snapshot.position }
    }
}

/// The read model's tables or the log were replaced after the index was loaded.
struct ReadModelReplacedError: Error, Hashable, CustomStringConvertible {
    var description: String { "the read model or the log is not the one that the index was filled from" }
}

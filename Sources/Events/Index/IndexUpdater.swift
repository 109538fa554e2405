package import EventStore
package import Logging
package import Postgres
internal import ServiceLifecycle
internal import SpatialIndex
internal import Synchronization

/// Fills the index of a node from the read model, keeps it in step with the log, and says whether it can be read.
///
/// What this process records it is told, and applies before those who asked for it are answered; what others record it reads
/// from the log.
package final class IndexUpdater: Service {
    /// How long a command waits for its own change to show, and a reader for the position that it asks for.
    static let patienceSeconds = 1.0
    private static let firstBackOffSeconds = 0.25
    private static let longestBackOffSeconds = 30.0
    /// Applied at a time: those who commit wait for it.
    private static let pageLimit: Int64 = 200
    /// How often it is asked whether the read model is still the one that the index was filled from.
    private static let checkSeconds = 1.0

    let index = EventIndex()
    let standing = IndexState()
    let client: PostgresClient
    let limitBytes: Int
    let render: EventRendering
    let logger: Logger
    let examining = Mutex(false)
    let notifier: LogNotifier
    private let waiters = PositionWaiters()
    /// Held by whoever writes to the index: those who commit, and the one who reads the log.
    private let buffer = Mutex(ReorderBuffer())

    /// - Parameters:
    ///   - notifier: must run
    ///   - limitBytes: a memory that would be larger is given up, and PostgreSQL read instead
    package init(
        client: PostgresClient, notifier: LogNotifier, limitBytes: Int, render: @escaping EventRendering, logger: Logger
    ) {
        self.client = client
        self.notifier = notifier
        self.limitBytes = limitBytes
        self.render = render
        self.logger = logger
    }

    /// Fills and follows, and begins anew after whatever fault, until the service group shuts down.
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
                    logger.warning("events are read from PostgreSQL", metadata: ["because": "\(error)"])
                    // Events do not get fewer by themselves; whoever raises the limit starts the server again.
                    return await untilCancelled()
                } catch {
                    leave(.interrupted)
                    logger.warning("the index is filled anew", metadata: ["because": "\(error)"])
                    // Filling is work for the database too: what fails again and again is not to be done again and again.
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
        buffer.withLock { $0.open(at: filled.cursor) }
        var backOff = BackOff(firstSeconds: Self.firstBackOffSeconds, longestSeconds: Self.longestBackOffSeconds)
        while true {
            do { try await follow(filled) } catch let error as FormatError {
                // A newer program has written it. Filling the index anew would end at the same place.
                if standing.stands(before: error) {
                    backOff.reset()
                    logger.critical("the index cannot follow the log and stays as it is", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: backOff.next())
            } catch let error as PostgresError where error.isUnavailability {
                // What is held is no worse for it, and readers are told how old it is.
                logger.warning("the index may be behind", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.firstBackOffSeconds))
            }
        }
    }

    /// From now on it is PostgreSQL that is read.
    private func leave(_ phase: IndexStatus.Phase) {
        buffer.withLock { buffer in
            buffer.close()
            standing.enter(phase)
            index.removeAll()
        }
    }

    private func follow(_ filled: IndexLoad) async throws {
        let feed = LogTail(
            client: client, notifier: notifier, after: buffer.withLock { $0.reached } ?? filled.cursor,
            filter: LogFilter(categories: [EventDomainEvent.category]), pageLimit: Self.pageLimit,
            reached: { [self] in buffer.withLock { $0.reached } })
        var checkedAt: ContinuousClock.Instant?
        for try await page in feed {
            if checkedAt.map({ page.askedAt - $0 > .seconds(Self.checkSeconds) }) ?? true {
                checkedAt = .now
                let current = try await ReadModelState.of(EventsProjection.self, client)
                guard current.tableGeneration == filled.tableGeneration else { throw ReadModelReplacedError() }
            }
            let isSameLog = notifier.history.generation == filled.generation
            guard isSameLog, buffer.withLock({ $0.reached != nil }) else { throw ReadModelReplacedError() }
            try take(LogSegment(page))
            if page.through - page.after.position < Self.pageLimit { sawEnd(page) }
        }
    }

    private func sawEnd(_ page: LogPage) {
        let isNew = buffer.withLock { buffer in
            guard let reached = buffer.reached, reached.position >= page.through else { return false }
            standing.isInStep(at: page.askedAt)
            guard !standing.isInUse else { return false }
            standing.enter(.inUse)
            return true
        }
        guard isNew else { return }
        let snapshot = index.snapshot
        logger.notice(
            "events are read from index",
            metadata: [
                "events": "\(snapshot.count)", "megabytes": "\(snapshot.bytes / 1_000_000)", "position": "\(snapshot.position)",
            ])
    }

    /// Applies it, with what waits behind it, if it joins on to what the index holds; otherwise it waits until what is missing
    /// has been read from the log.
    private func take(_ segment: LogSegment) throws {
        let snapshot = try buffer.withLock { buffer in
            let snapshot = index.snapshot
            guard let joined = buffer.join(segment) else { return snapshot }
            do {
                let changes = EventsProjection().fold(joined.envelopes(after: snapshot.position))
                index.apply(try EventIndex.Batch(changes, on: snapshot, render: render), position: joined.through)
            } catch {
                giveUp(&buffer)
                throw error
            }
            return index.snapshot
        }
        guard snapshot.bytes <= limitBytes else { throw IndexLimitError(limitBytes: limitBytes) }
        waiters.reached(snapshot.position)
    }

    /// Nobody is to read the index any more, and nothing more is applied to it; the one who follows the log fills it anew.
    private func giveUp(_ buffer: inout ReorderBuffer) {
        buffer.close()
        standing.enter(.interrupted)
    }
}

extension IndexUpdater: CommitListener {
    package func committed(_ commit: Commit) {
        let segment = LogSegment(commit)
        do { try take(segment) } catch {
            // Whoever reads the log comes to the same place, and deals with it.
            return logger.warning("a commit is left for the one who reads the log", metadata: ["error": "\(error)"])
        }
        buffer.withLock { buffer in
            guard let reached = buffer.reached, reached.position >= segment.through else { return }
            // Where something else had the place, the log has lost its end, in a fail-over say, and goes on from further back.
            let isHeld = reached.position == segment.through ? reached == segment.end : index.snapshot.holds(segment)
            if !isHeld { giveUp(&buffer) }
        }
    }
}

extension IndexUpdater {
    /// What can be read now: nothing that is behind what was acknowledged here. nil where PostgreSQL is to be asked.
    var readable: EventIndex.Snapshot? {
        guard standing.isInUse else { return nil }
        let snapshot = index.snapshot
        return snapshot.position >= standing.shown ? snapshot : nil
    }

    /// Returns when the index shows what was recorded there or, where that takes too long, makes sure that nobody reads it before.
    func show(_ position: Int64) async {
        if await reaches(position) { return }
        standing.mustShow(position)
    }

    /// Whether the index holds what was recorded there, or soon does.
    func reaches(_ position: Int64) async -> Bool {
        guard standing.isInUse else { return false }
        return await waiters.wait(for: position, seconds: Self.patienceSeconds) { [index] in index.snapshot.position }
    }
}

/// The events have more to remember than they may take.
struct IndexLimitError: Error, Hashable, CustomStringConvertible {
    var limitBytes: Int
    var description: String {
        "they do not fit into \(limitBytes / 1_000_000) MB: raise HUMON_INDEX_MEGABYTES, if there is more"
    }
}

/// Others took the place of the tables that the index was filled from, or of what it has read in the log.
struct ReadModelReplacedError: Error, Hashable, CustomStringConvertible {
    var description: String { "the read model or the log is not the one that the index was filled from" }
}

extension EventIndex.Snapshot {
    /// Whether it has seen all of these changes.
    fileprivate func holds(_ segment: LogSegment) -> Bool {
        segment.envelopes(after: 0).allSatisfy { envelope in
            EventID(stream: envelope.stream).flatMap { event($0)?.version } ?? 0 >= envelope.version
        }
    }
}

private func untilCancelled() async { while (try? await Task.sleep(for: .seconds(3_600))) != nil {} }

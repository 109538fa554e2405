internal import EventStore
internal import Events
internal import Logging
internal import Postgres
internal import ServiceLifecycle
internal import Synchronization

extension AttendanceCounts {
    private static let firstBackOffSeconds = 0.25
    private static let longestBackOffSeconds = 30.0
    /// Maximum number of recorded events in one page of the log.
    static let pageLimit: Int64 = 1_000
    static let filter = LogFilter(categories: [AttendanceDomainEvent.category])

    /// Loads the counts and follows the log until the service group shuts down. After an error it begins again, unless there are too many
    /// events.
    /// - Throws: never; the protocol requires `throws`
    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            // A server has one connection for loads. The index of events comes first.
            for await _ in notifier.wakes() where mayLoad() { break }
            var backOff = BackOff(firstSeconds: Self.firstBackOffSeconds, longestSeconds: Self.longestBackOffSeconds)
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do {
                    try await keep()
                } catch is CancellationError {
                    return
                } catch let error as CountLimitError {
                    close()
                    state.withLock { $0.exceedsLimit = true }
                    logger.warning("PostgreSQL counts attendances", metadata: ["because": "\(error)"])
                    // The number of events does not fall by itself.
                    while (try? await Task.sleep(for: .seconds(3_600))) != nil {}
                    return
                } catch {
                    close()
                    logger.warning("the counts of attendances are loaded again", metadata: ["because": "\(error)"])
                    // A load is work for the database too, so the pauses between repeated failures grow.
                    if .now - start > .seconds(Self.longestBackOffSeconds) { backOff.reset() }
                    if (error as? PostgresError)?.isUnavailability == true { backOff.reset() }
                    try? await Task.sleep(for: backOff.next())
                }
            }
        }
    }

    private func keep() async throws {
        try await load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.followWithRetries() }
            group.addTask { try await self.watchTables() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func followWithRetries() async throws {
        while true {
            do { try await follow() } catch let error as PostgresError where error.isUnavailability {
                // The counts stay valid, and readers get their age.
                logger.warning("the counts of attendances may be behind", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.firstBackOffSeconds))
            }
        }
    }

    /// Drops the counts. Readers use PostgreSQL from now on.
    private func close() { state.withLock { $0 = State(mustShow: $0.mustShow) } }

    /// Counts the attendances of the read model at one position.
    private func load() async throws {
        let (generation, shown) = (notifier.history.generation, state.withLock { $0.mustShow })
        let (tableGeneration, cursor, counts) = try await Standby.load(from: standby, or: client) { try await counted(in: $0) }
        // A snapshot fixes rows, but not the names of tables.
        guard try await ReadModelState.of(AttendancesProjection.self, client).tableGeneration == tableGeneration else {
            throw CountsReplacedError()
        }
        // A standby may lack acknowledged writes that the log has not lost.
        let tail = try await LogReader(client: client).tail()
        state.withLock { state in
            // The log may have lost a write that was acknowledged.
            let mustShow = tail < shown && state.mustShow == shown ? tail : state.mustShow
            state = State(counts: counts, tableGeneration: tableGeneration, generation: generation, mustShow: mustShow)
            state.buffer = ReorderBuffer(after: cursor)
        }
        logger.info(
            "the counts of attendances are loaded",
            metadata: ["events": .stringConvertible(counts.count), "position": .stringConvertible(cursor.position)])
    }

    /// - Parameter source: the primary or the standby
    private func counted(
        in source: PostgresClient
    ) async throws -> (tableGeneration: String, cursor: LogCursor, counts: [EventID: Int32]) {
        try await source.withTransaction { connection in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let model = try await ReadModelState.of(AttendancesProjection.self, connection)
            let cursor = try await LogReader(client: connection).cursor(at: model.position)
            if source !== client { try await standby?.confirm(cursor) }
            let counts = try await connection.withoutTimeout { try await counted($0) }
            return (model.tableGeneration, cursor, counts)
        }
    }

    private func counted(_ connection: LeasedConnection) async throws -> [EventID: Int32] {
        var counts: [EventID: Int32] = [:]
        try await Self.forEachCount(connection) { event, count in
            counts[event] = count
            guard counts.count <= eventLimit else { throw CountLimitError(eventLimit: eventLimit) }
        }
        return counts
    }

    private func follow() async throws {
        let (start, generation) = state.withLock { ($0.reached, $0.generation) }
        guard let start else { throw CountsReplacedError() }
        let tail = LogTail(
            client: client, standby: standby, notifier: notifier, after: start, filter: Self.filter, pageLimit: Self.pageLimit,
            reached: { [self] in state.withLock { $0.reached } })
        for try await page in tail {
            guard notifier.history.generation == generation else { throw CountsReplacedError() }
            apply(try LogSegment(page))
            let count = state.withLock { state in
                if let instant = page.endOfLogAt { (state.isInUse, state.inStepAt) = (true, max(state.inStepAt, instant)) }
                return state.counts.count
            }
            guard count <= eventLimit else { throw CountLimitError(eventLimit: eventLimit) }
        }
    }
}

/// More events have attendances than the counts may hold.
struct CountLimitError: Error, Hashable, CustomStringConvertible {
    var eventLimit: Int
    var description: String { "more than \(eventLimit) events have attendances" }
}

/// The read model or the log is not the one that was counted, and the counts may be wrong.
struct CountsReplacedError: Error, Hashable, CustomStringConvertible {
    var description: String { "the read model or the log is not the one that was counted" }
}

internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization
internal import Users

/// The source of a loaded index: the tables of the read model, and the place in the log.
struct IndexLoad: Sendable {
    /// The table generation of the read model.
    var tableGeneration: String
    /// The index holds the log up to this cursor.
    var cursor: LogCursor
    /// The generation of the log before the load read anything.
    var generation: LogGeneration
    /// The events that come back into the index if operators unhide them.
    var hidden: [EventID: HeldEvent]
}

extension IndexUpdater {
    /// Reads all rows of the read model at one position into the index.
    func fill() async throws -> IndexLoad {
        let clock = ContinuousClock()
        let (start, shown, generation) = (clock.now, state.shown, notifier.history.generation)
        let (filled, rows) = try await Standby.load(from: standby, or: client) { try await copy(from: $0, generation) }
        guard try await ReadModelState.of(EventsProjection.self, client).tableGeneration == filled.tableGeneration else {
            throw ReadModelReplacedError()
        }
        // A standby may lack acknowledged writes that the log has not lost.
        let tail = try await LogReader(client: client).tail()
        if tail < shown { state.forget(shown, for: tail) }
        let copied = clock.now
        rows.fill(index, at: filled.cursor)
        let (count, seconds) = (index.snapshot.count, (clock.now - start) / .seconds(1))
        logger.notice(
            "the index is loaded",
            metadata: [
                "events": .stringConvertible(count), "seconds": .stringConvertible(seconds),
                "of_which_reading": .stringConvertible((copied - start) / .seconds(1)),
                "events_per_second": .stringConvertible(Int(Double(count) / seconds)),
                "position": .stringConvertible(filled.cursor.position),
            ])
        return filled
    }

    /// - Parameter source: the primary or the standby
    private func copy(from source: PostgresClient, _ generation: LogGeneration) async throws -> (IndexLoad, CopiedEvents) {
        try await source.withTransaction { connection in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let state = try await ReadModelState.of(EventsProjection.self, connection)
            let cursor = try await LogReader(client: connection).cursor(at: state.position)
            if source !== client { try await confirm(state, cursor) }
            let estimate = try await connection.query(
                "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(\(EventsProjection.schema + ".events"))"
            ).decode(Int64.self)
            let rows = CopiedEvents(estimate: Int(estimate.first ?? 0), limitBytes: limitBytes, render: render, logger: logger)
            try await connection.withoutTimeout { try await rows.copy($0) }
            let filled = IndexLoad(
                tableGeneration: state.tableGeneration, cursor: cursor, generation: generation, hidden: rows.hidden)
            return (filled, rows)
        }
    }

    /// Checks that the standby has the log and the tables of the primary, before it sends all rows.
    private func confirm(_ state: ReadModelState, _ cursor: LogCursor) async throws {
        try await standby?.confirm(cursor)
        guard try await ReadModelState.of(EventsProjection.self, client).tableGeneration == state.tableGeneration else {
            throw StandbyUnusableError(reason: "the standby lacks the newest tables of the read model")
        }
    }
}

/// Makes a bulk load from the rows of a COPY, and logs its progress at most once a second.
private final class CopiedEvents: Sendable {
    private struct State: Sendable {
        var bulkLoad = EventIndex.BulkLoad()
        var hidden: [EventID: HeldEvent] = [:]
        var bytes = 0
        var saidAt = ContinuousClock.now
    }

    /// Number of tasks that decode and render rows. This work takes longer than PostgreSQL takes to send the rows.
    private static let readers = 2
    /// Bytes of memory for each row besides its JSON while the index loads. It counts the row twice, because arrays copy rows
    /// while they grow, and its entry in the id table.
    private static let bytesPerRow = 160

    private let state = Mutex(State())
    private let estimate: Int
    private let limitBytes: Int
    private let render: EventRendering
    private let logger: Logger

    init(estimate: Int, limitBytes: Int, render: @escaping EventRendering, logger: Logger) {
        self.estimate = estimate
        self.limitBytes = limitBytes
        self.render = render
        self.logger = logger
    }

    /// Decodes and renders rows in tasks while PostgreSQL sends further rows.
    func copy(_ connection: LeasedConnection) async throws {
        let handover = BoundedChannel()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.readers {
                group.addTask {
                    defer { handover.stop() }
                    var (batch, hidden, json) = (EventIndex.Batch(), [EventID: HeldEvent](), [UInt8]())
                    for await rows in handover.rows {
                        try rows.forEach { row in
                            let (event, vector) = try EventRow.copied(&row)
                            guard !event.isCancelled else { return }
                            json.removeAll(keepingCapacity: true)
                            self.render(event, &json)
                            if event.isHidden {
                                hidden[event.id] = HeldEvent(
                                    owner: event.owner, version: event.version, place: event.details.place, json: json,
                                    isHidden: true)
                                return
                            }
                            batch.put(
                                event.id, owner: event.owner, version: event.version, place: event.details.place, vector: vector,
                                json: json)
                        }
                        try self.take(batch, hidden)
                        batch.removeAll()
                        hidden.removeAll()
                        handover.wasTaken()
                    }
                }
            }
            let result: Result<Void, any Error>
            do {
                result = .success(try await EventRow.copyAll(connection) { try handover.give($0) })
            } catch {
                result = .failure(error)
            }
            handover.finish()
            // A reader's error comes first, because it also makes the copy fail.
            try await group.waitForAll()
            try result.get()
        }
    }

    var hidden: [EventID: HeldEvent] { state.withLock(\.hidden) }

    private func take(_ batch: EventIndex.Batch, _ hidden: [EventID: HeldEvent]) throws {
        try state.withLock { state in
            state.bulkLoad.put(batch)
            state.hidden.merge(hidden) { _, new in new }
            state.bytes += batch.payloadBytes + Self.bytesPerRow * batch.count
            state.bytes += hidden.values.reduce(0) { $0 + $1.json.count + Self.bytesPerRow }
            guard state.bytes <= limitBytes else {
                throw IndexLimitError(limitBytes: limitBytes, events: state.bulkLoad.count)
            }
            guard .now - state.saidAt >= .seconds(1) else { return }
            state.saidAt = .now
            let count = state.bulkLoad.count
            logger.notice(
                "the index is loading",
                metadata: ["events": .stringConvertible(count), "of_about": .stringConvertible(max(estimate, count))])
        }
    }

    func fill(_ index: EventIndex, at cursor: LogCursor) {
        state.withLock { index.fill(from: &$0.bulkLoad, position: cursor.position, mark: cursor.mark) }
    }
}

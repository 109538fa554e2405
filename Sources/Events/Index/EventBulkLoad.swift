internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization
internal import Users

/// Makes a bulk load from the rows of a COPY, and logs its progress at most once a second.
final class EventBulkLoad: Sendable {
    private struct State: Sendable {
        var bulkLoad = EventIndex.BulkLoad()
        var owned = OwnedEvents()
        var cancelled: [(id: EventID, event: HeldEvent)] = []
        var saidAt = ContinuousClock.now
    }

    /// Number of tasks that decode and render rows. This work takes longer than PostgreSQL takes to send the rows.
    private static let readers = 2

    private let state = Mutex(State())
    private let estimate: Int
    private let render: EventRendering
    private let logger: Logger
    private let start = Dependencies.system.now()

    init(estimate: Int, render: @escaping EventRendering, logger: Logger) {
        self.estimate = estimate
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
                    var batch = EventIndex.Batch()
                    var owned: [(EventID, UserID)] = []
                    var cancelled: [(id: EventID, event: HeldEvent)] = []
                    for await rows in handover.rows {
                        try rows.forEach { row in
                            let event = try Event(&row)
                            guard event.isLive || self.shows(event) else { return }
                            let held = HeldEvent(event, by: self.render)
                            guard event.isLive else {
                                cancelled.append((event.id, held))
                                return
                            }
                            batch.put(event.id, held)
                            owned.append((event.id, event.owner))
                        }
                        self.take(batch, owned, cancelled)
                        batch.removeAll()
                        cancelled.removeAll(keepingCapacity: true)
                        owned.removeAll(keepingCapacity: true)
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

    /// Whether calendars show an event that is not live.
    private func shows(_ event: Event) -> Bool {
        event.isCancelled && !event.isHidden && CancelledEvents.shows(event.revisedAt, at: start)
    }

    private func take(_ batch: EventIndex.Batch, _ owned: [(EventID, UserID)], _ cancelled: [(id: EventID, event: HeldEvent)]) {
        state.withLock { state in
            state.bulkLoad.put(batch)
            state.cancelled += cancelled
            if state.cancelled.count > 2 * CancelledEvents.limit {
                state.cancelled = Array(CancelledEvents.newest(state.cancelled))
            }
            for (id, owner) in owned { state.owned.append(id, of: owner) }
            guard .now - state.saidAt >= .seconds(1) else { return }
            state.saidAt = .now
            let count = state.bulkLoad.count
            logger.notice(
                "the index is loading",
                metadata: ["events": .stringConvertible(count), "of_about": .stringConvertible(max(estimate, count))])
        }
    }

    /// Makes the leaves of the index. Call this once.
    /// - Returns: the owners of its events, and the events that were cancelled lately
    func fill(_ index: EventIndex, at cursor: LogCursor) -> (owned: OwnedEvents, cancelled: CancelledEvents) {
        state.withLock { state in
            index.fill(from: &state.bulkLoad, position: cursor.position, mark: cursor.mark)
            // Not shared with this value, so that the first change copies nothing.
            var owned = exchange(&state.owned, with: OwnedEvents())
            owned.sort()
            return (owned, CancelledEvents(state.cancelled, position: cursor.position))
        }
    }
}

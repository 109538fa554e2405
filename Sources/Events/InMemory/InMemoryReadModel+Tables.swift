internal import EventStore
internal import Logging
internal import Postgres
internal import Synchronization

extension InMemoryReadModel {
    /// Seconds between two checks that the content belongs to the present tables of the read model.
    private static let checkSeconds = 1.0
    /// Number of comparisons with new tables after which a content that still differs is loaded again.
    private static let mendingPasses = 3
    /// The content comes back when this part of what did not fit is left, so that it does not come and go.
    private static let roomyPercent = 95

    /// Reads the tables of the read model at one position into the content.
    func load() async throws {
        let clock = ContinuousClock()
        let (start, required, generation) = (clock.now, state.requiredPosition, notifier.history.generation)
        let (tables, cursor, fill) = try await client.withSnapshot { connection, model in
            let cursor = try await LogReader(client: connection).cursor(at: model.position)
            let fill = try await connection.withoutTimeout { try await content.load($0, logger: logger) }
            return (model.tableGeneration, cursor, fill)
        }
        guard try await presentTables() == tables else { throw InMemoryReplacedError() }
        // The log may have lost the write that readers wait for.
        let tail = try await LogReader(client: client).tail()
        if tail < required { state.forget(required, for: tail) }
        let read = clock.now
        // The content is not in use, and no writer changes it before the buffer is open.
        fill(cursor)
        writer.withLock { writer in
            writer = Writer(buffer: ReorderBuffer(after: cursor), generation: generation, tables: tables)
            if state.phase != .filling { state.changedLists(by: tables) }
            state.reach(cursor.position)
        }
        let (count, seconds) = (content.count, (clock.now - start) / .seconds(1))
        logger.notice(
            "the index is loaded",
            metadata: [
                "events": .stringConvertible(count), "seconds": .stringConvertible(seconds),
                "of_which_reading": .stringConvertible((read - start) / .seconds(1)),
                "events_per_second": .stringConvertible(Int(Double(count) / seconds)),
                "position": .stringConvertible(cursor.position),
            ])
    }

    private func presentTables() async throws -> String {
        try await ReadModelState.of(EventsProjection.self, client).tableGeneration
    }

    /// The generation of the read model's tables that the content agrees with; `nil` while it is not loaded.
    var tables: String? { writer.withLock { $0.tables } }

    /// Looks for a loss of the log's end and for new tables of the read model, until the content must be loaded again.
    /// - Throws: ``InMemoryReplacedError``, and the errors of a comparison
    func watchTables() async throws {
        while true {
            try await Task.sleep(for: .seconds(Self.checkSeconds))
            let isOfThisLog = writer.withLock { $0.tables != nil && $0.generation == notifier.history.generation }
            guard isOfThisLog else { throw InMemoryReplacedError() }
            do { try await checkTables() } catch let error where Self.isForNow(error) {
                // The content stays in use, and the tables can be checked later.
            }
        }
    }

    /// Whether the same comparison may succeed later.
    private static func isForNow(_ error: any Error) -> Bool {
        error is ReadModelBehindError || (error as? PostgresError)?.isUnavailability == true
    }

    /// Compares the content with the tables of the read model if these are new, and mends the differences. A rebuild corrects a wrong read
    /// model, and the content may have the same errors. It stays in use meanwhile.
    private func checkTables() async throws {
        let present = try await presentTables()
        guard present != tables, state.isInUse else { return }
        var (mended, unsettled): (Int, Set<EventID>?) = (0, nil)
        for pass in 1...Self.mendingPasses {
            writer.withLock { $0.changed = [] }
            let found = try await examine()
            guard found.differing <= IndexVerification.mendingLimit else { break }
            // A change of an event that was not compared yet may rest on a wrong event.
            let rest = (unsettled?.intersection(found.changed) ?? found.changed).union(found.mends.keys)
            // Some events may change in every pass.
            if rest.isEmpty || pass == Self.mendingPasses && found.differing == 0 {
                return agree(with: present, mended: mended)
            }
            mended += try mend(found.mends, by: present)
            unsettled = rest
        }
        throw InMemoryReplacedError()
    }

    private func agree(with tables: String, mended: Int) {
        writer.withLock { writer in
            guard writer.tables != nil else { return }
            (writer.tables, writer.changed) = (tables, nil)
        }
        logger.notice(
            "the index agrees with new tables of the read model", metadata: ["mended_events": .stringConvertible(mended)])
    }

    /// Replaces events of the content. What the content learned from the log since the comparison began is newer.
    /// - Returns: the number of replaced events
    /// - Throws: ``InMemoryReplacedError`` if the content is not the compared one any more
    func mend(_ events: [EventID: IndexChanges.Outcome], by tables: String) throws -> Int {
        try writer.withLock { writer in
            guard let changed = writer.changed, writer.generation == notifier.history.generation else {
                throw InMemoryReplacedError()
            }
            let outdated = events.filter { !changed.contains($0.key) }
            guard !outdated.isEmpty else { return 0 }
            content.mend(outdated)
            state.changedLists(by: tables)
            return outdated.count
        }
    }

    /// Runs the body in a transaction that reads the tables of the read model at one position.
    /// - Parameter body: gets the position of the tables
    /// - Returns: `nil` if the tables lack the position, or if other tables replaced them meanwhile
    /// - Throws: ``ReadModelError/missing``, `PostgresError`, `CancellationError`, and the errors of the body
    func withTables<Value>(
        atLeast position: Int64, _ body: (LeasedConnection, Int64) async throws -> Value
    ) async throws -> Value? {
        let (tables, value) = try await client.withSnapshot { connection, model -> (String, Value?) in
            // If another version of the program appends, the read model follows the log later.
            guard model.position >= position else { return (model.tableGeneration, nil) }
            return (model.tableGeneration, try await body(connection, model.position))
        }
        return try await presentTables() == tables ? value : nil
    }

    /// Waits until the tables have so little that there is room for the content.
    /// - Parameter count: did not fit
    /// - Throws: `CancellationError`
    func waitForRoom(for count: Int) async throws {
        // A count reads the whole table.
        var backOff = BackOff(firstSeconds: roomPauseSeconds, longestSeconds: 10 * roomPauseSeconds)
        while true {
            try await Task.sleep(for: backOff.next())
            // Without an answer the next look decides.
            guard let present = try? await countInTables(), present <= count * Self.roomyPercent / 100 else { continue }
            return logger.notice("there is room again for the index", metadata: ["events": "\(present)"])
        }
    }

    private func countInTables() async throws -> Int {
        try await client.withLongTransaction {
            try await $0.query(
                "SELECT count(*) FROM \(identifier: EventsProjection.schema).events WHERE \(EventRow.isLive)"
            ).decode(Int64.self).first.map { Int($0) } ?? 0
        }
    }
}

extension PostgresClient {
    /// Runs the body in a transaction with one snapshot. A snapshot fixes rows, but not the names of tables.
    fileprivate func withSnapshot<Value>(
        _ body: (LeasedConnection, ReadModelState) async throws -> Value
    ) async throws -> Value {
        try await withTransaction { connection in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return try await body(connection, try await ReadModelState.of(EventsProjection.self, connection))
        }
    }
}

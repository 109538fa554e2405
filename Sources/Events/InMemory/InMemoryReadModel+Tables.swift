internal import EventStore
internal import Logging
internal import Postgres
internal import Synchronization

extension InMemoryReadModel {
    /// Seconds between two checks that the content belongs to the present tables of the read model.
    private static let checkSeconds = 1.0
    /// Number of comparisons with new tables after which a content that still differs is loaded again.
    private static let mendingPasses = 3

    /// Reads the tables of the read model at one position into the content.
    func load() async throws {
        let clock = ContinuousClock()
        let (start, generation) = (clock.now, notifier.history.generation)
        let (tables, cursor, fill) = try await client.withSnapshot { connection, model in
            let cursor = try await LogReader(client: connection).cursor(at: model.position)
            let fill = try await connection.withoutTimeout { try await content.load($0, logger: logger) }
            return (model.tableGeneration, cursor, fill)
        }
        guard try await presentTables() == tables else { throw InMemoryReplacedError() }
        let read = clock.now
        // A later commit or page may have another recorded event there.
        notifier.history.saw(cursor)
        // The content is not in use, and no writer changes it before it has an end.
        fill(cursor)
        writer.withLock { writer in
            writer = Writer(end: cursor, generation: generation, tables: tables)
            endings.begin()
            if !state.isStarting { state.changedLists(by: tables) }
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
        guard content.isFull else { return }
        logger.critical(
            "the index is full, and this node takes no new events: raise HUMON_INDEX_MEGABYTES",
            metadata: ["megabytes": .stringConvertible(content.bytes / 1_000_000)])
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

    /// Whether the tables can be compared later: a read model that is missing, behind, or not reached.
    private static func isForNow(_ error: any Error) -> Bool {
        if case ReadModelError.missing = error { return true }
        return error is ReadModelBehindError || (error as? PostgresError)?.isUnavailability == true
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

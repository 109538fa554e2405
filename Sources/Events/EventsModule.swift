internal import Encoding
public import EventStore
internal import Foundation
package import Postgres
internal import Users

extension Module {
    /// The gatherings that people attend.
    package static let events = Module(
        "events", domainEvents: [EventDomainEvent.self], projections: [EventsProjection()], idSequences: [EventsModule.ids])
}

/// Creates, changes and finds events. A class, so that each ``EventsView`` holds a reference and not a copy.
public final class EventsModule: Sendable {
    static let ids = IDSequence(category: EventDomainEvent.category, name: "log.event_ids")

    let database: PostgresClient
    let index: InMemoryReadModel<IndexedEvents>?
    let changes: ChangeFeed?
    let render: EventRendering
    public let reads = ReadCounts()
    /// The last position of the log.
    let tail: GrowthBound
    /// The last id that any node took for an event.
    let lastID: GrowthBound
    let longSearches = LongSearches()
    private let log: EventLog
    private let ids: IDAllocator
    private let idempotency: IdempotencyStore
    private let quota: EventQuota
    private let dependencies: Dependencies
    private let retry: ConflictRetry
    private let state: CommandState

    /// Reads from the context's ``IndexedEvents``, or from PostgreSQL if the context has none.
    /// - Parameter render: writes an event as the API shows it, as the index does
    package convenience init(_ context: ModuleContext, render: @escaping EventRendering) {
        self.init(
            log: context.log, database: context.database, index: context.find(),
            changes: context.find(ChangeFeed.self), render: render, quota: context.find(EventQuota.self),
            dependencies: context.dependencies)
    }

    /// - Parameters:
    ///   - index: listens to the log's commits; `nil` to read from PostgreSQL
    ///   - changes: listens to the index; `nil` for no streams of changes
    ///   - render: writes an event as the API shows it, as the index does
    ///   - quota: `nil` for none
    init(
        log: EventLog, database: PostgresClient, index: InMemoryReadModel<IndexedEvents>? = nil, changes: ChangeFeed? = nil,
        render: @escaping EventRendering, quota: EventQuota? = nil,
        dependencies: Dependencies
    ) {
        self.quota = quota ?? EventQuota(limit: 0)
        self.log = log
        self.database = database
        self.index = index
        self.changes = changes
        self.render = render
        self.dependencies = dependencies
        tail = GrowthBound { try await LogReader(client: database).tail() }
        lastID = GrowthBound { try await Self.ids.last(client: database) }
        retry = ConflictRetry(dependencies: dependencies)
        state = CommandState(of: EventsProjection(), client: database)
        ids = IDAllocator(sequence: Self.ids.name, client: database, history: log.history)
        idempotency = IdempotencyStore(client: database)
    }

    /// - Parameter condition: what must hold when the event is recorded. A repetition of a command with a key does not check it
    /// - Returns: the event, and the position at which it is recorded
    /// - Throws: ``EventRejection/tooManyEvents(maximum:)``, `KeyReusedError`, `StreamContended`, and the errors of `EventLog.append(_:)`
    public func create(
        _ command: CreateEvent, condition: AppendCondition? = nil, context: CommandContext
    ) async throws -> (id: EventID, position: Int64) {
        try await idempotently(context.recordKey(actor: command.owner.rawValue)) { key in
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            try await retry.run { _ in
                let count = { @Sendable in try await self.liveEvents(of: command.owner, atMost: self.quota.limit) }
                return try await quota.withRoom(for: command.owner, counting: count) { live in
                    let created = try decide(command, liveEvents: live, quota: quota.limit)
                    let id = EventID(rawValue: try await ids.next())
                    return try await append(
                        .created(created), to: id, version: 0, if: condition, by: command.owner, key: key, context: context)
                }
            }
        }
    }

    /// Decides on the present event. If another writer is faster it decides again, `ConflictRetry.attempts` times at most.
    /// - Parameter condition: what must hold when the change is recorded
    /// - Returns: the event, and the position at which the change is recorded
    /// - Throws: ``EventRejection``, `KeyReusedError`, `StreamContended`, `ReadModelError.behind`, the errors of `EventLog.append(_:)`,
    ///   and `UncheckedConditionError` if a command under a condition changes nothing
    public func update(
        _ command: UpdateEvent, condition: AppendCondition? = nil, context: CommandContext
    ) async throws -> (id: EventID, position: Int64) {
        try await idempotently(context.recordKey(actor: command.by.rawValue)) { key in
            try await change(command.id, by: command.by, if: condition, key: key, context: context) {
                .updated(try decide(command, on: $0, mark: mark(of:)))
            }
        }
    }

    /// Cancels an event for ever. A repetition changes nothing.
    /// - Returns: the event, and a position from which on the cancellation is in the log
    /// - Throws: what ``update(_:condition:context:)`` throws
    public func cancel(
        _ command: CancelEvent, condition: AppendCondition? = nil, context: CommandContext
    ) async throws -> (id: EventID, position: Int64) {
        try await idempotently(context.recordKey(actor: command.by.rawValue)) { key in
            try await change(command.id, by: command.by, if: condition, key: key, context: context) {
                try decide(command, on: $0, mark: mark(of:))
            }
        }
    }

    /// Hides an event from all users, on behalf of an operator. A repetition changes nothing.
    /// - Returns: the place of the recorded event, or of an earlier one with ``AppendResult/isRepeat``
    /// - Throws: ``EventRejection/notFound``, and what ``update(_:condition:context:)`` throws
    public func hide(_ command: HideEvent, context: CommandContext) async throws -> AppendResult {
        try await operate(on: command.id, context: context) { try decide(command, on: $0) }
    }

    /// Shows a hidden event again, on behalf of an operator. A repetition changes nothing.
    /// - Returns: the place of the recorded event, or of an earlier one with ``AppendResult/isRepeat``
    /// - Throws: ``EventRejection/notFound``, and what ``update(_:condition:context:)`` throws
    public func unhide(_ command: UnhideEvent, context: CommandContext) async throws -> AppendResult {
        try await operate(on: command.id, context: context) { try decide(command, on: $0) }
    }

    private func mark(of event: Event) -> UInt32 {
        var json: [UInt8] = []
        render(event, &json)
        return json.withUnsafeBytes(EventVersion.mark)
    }

    /// Whether a version or a position without a mark names one content: as far as this process knows, the log never lost its end.
    /// Clients have such names from releases before marks.
    public var hasOneHistory: Bool { log.history.generation == LogGeneration() }

    /// Carries out a command of an operator. It has no user and no idempotency key.
    private func operate(
        on id: EventID, context: CommandContext, _ decide: (Event?) throws -> EventDomainEvent?
    ) async throws -> AppendResult {
        let appended = try await change(id, by: nil, key: nil, context: context, decide)
        await index?.waitUntilVisible(appended.position)
        return appended
    }

    /// Appends what the rule decides on the present event. If another writer is faster, the rule decides again.
    /// - Parameter decide: returns `nil` if the event already is as the command wants it
    private func change(
        _ id: EventID, by actor: UserID?, if condition: AppendCondition? = nil, key: IdempotencyRecordKey?,
        context: CommandContext, _ decide: (Event?) throws -> EventDomainEvent?
    ) async throws -> AppendResult {
        try await retry.run { conflict in
            let event = try await event(id, atLeast: conflict?.actual ?? 0)
            let version = event?.version ?? 0
            if let change = try decide(event) {
                return try await append(
                    change, to: id, version: version, if: condition, by: actor, key: key, context: context)
            }
            return try await idempotency.endWithoutEvent(key, stream: id.stream, version: version, if: condition)
        }
    }

    private func event(_ id: EventID, atLeast version: Int32) async throws -> Event? {
        try await state.read(atLeast: version, version: \.version) { try await event(id) }
    }

    /// Returns an event, a cancelled or hidden one too.
    /// - Throws: `PostgresError`, `FormatError`
    public func event(_ id: EventID) async throws -> Event? { try Self.event(in: await database.query(Self.query(of: id))) }

    /// Selects an event, a cancelled or hidden one too. For modules that send it together with statements of their own.
    package static func query(of id: EventID) -> SQL {
        "SELECT \(EventRow.columns) FROM \(identifier: EventsProjection.schema).events WHERE id = \(id.rawValue)"
    }

    /// Makes the event from the rows of ``query(of:)``; `nil` if there is none.
    /// - Throws: `FormatError`, `PostgresError`
    package static func event(in rows: Rows) throws -> Event? { try rows.first.map { try Event($0) } }

    /// - Throws: ``PostgresError``, or `CancellationError`
    public func nearest(_ search: NearbySearch) async throws -> NearbySearch.Page {
        try search.page(await database.query(search.query))
    }

    /// Carries a command out once for each key.
    private func idempotently(
        _ key: IdempotencyRecordKey?, _ carryOut: (IdempotencyRecordKey?) async throws -> AppendResult
    ) async throws -> (id: EventID, position: Int64) {
        try await waitUntilVisible(await idempotency.idempotently(key) { try await carryOut(key) })
    }

    /// Waits until this node's index contains the write, so that the caller's next read sees it.
    private func waitUntilVisible(_ appended: AppendResult) async throws -> (id: EventID, position: Int64) {
        guard let id = EventID(stream: appended.stream) else {
            throw FormatError("a command on an event is recorded in the stream \(appended.stream)")
        }
        await index?.waitUntilVisible(appended.position)
        return (id, appended.position)
    }

    private func append(
        _ event: EventDomainEvent, to id: EventID, version: Int32, if condition: AppendCondition? = nil, by actor: UserID?,
        key: IdempotencyRecordKey?, context: CommandContext
    ) async throws -> AppendResult {
        try await log.append(
            AppendRequest(
                id: key?.id ?? dependencies.newDomainEventID,
                requestHash: key?.requestHash,
                stream: id.stream,
                expectedVersion: version,
                condition: condition,
                recordedAt: dependencies.now(),
                metadata: context.metadata(actor: actor?.rawValue),
                event: event
            )
        )
    }
}

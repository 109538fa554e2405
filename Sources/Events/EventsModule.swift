internal import Encoding
public import EventStore
internal import Foundation
package import Postgres
internal import Synchronization
public import Users

extension StoredModule {
    /// The gatherings that people attend.
    package static let events = StoredModule(
        "events", domainEvents: [EventDomainEvent.self], projections: [EventsProjection()], idSequences: [EventsModule.ids])
}

/// Creates, changes and finds events. A class, because of its counters.
public final class EventsModule: Sendable {
    static let ids = IDSequence(category: EventDomainEvent.category, name: "log.event_ids")

    /// All events of an owner, cancelled and hidden ones too.
    static let ofOwner = PersonalStreams(of: UserDomainEvent.category) { owner, database in
        try await StateReader(of: EventsProjection(), client: database).rows(EventsModule.query(ofOwner: owner))
            .decode(Int64.self).map(EventID.init(rawValue:)).sorted { $0.rawValue < $1.rawValue }
            .map { PersonalStream($0.stream, endsWith: EventDomainEvent.erased) }
    }

    /// Selects the ids in any order. In their own order PostgreSQL might read the whole table by its key.
    static func query(ofOwner owner: Int64) -> SQL {
        "SELECT id FROM \(identifier: EventsProjection.schema).events WHERE owner_id = \(owner)"
    }

    let database: PostgresClient
    let index: InMemoryReadModel?
    let changes: ChangeFeed?
    let render: EventRendering
    let reads = Atomic(0)
    /// The number of readers that wait for a position that the log does not have yet.
    let readersOfNextPosition = Atomic(0)
    let longSearches = LongSearches()
    /// The rows of events of which the index has a part only.
    let rowsByID: BatchedLookup<EventID, Event>
    /// Maximum number of readers that wait for a row: 16 MB of descriptions of 4,000 emoji.
    private static let rowReaders = 1_000
    let dependencies: Dependencies
    /// The id of the log's first recorded event, once it is known.
    let origin = Mutex<UUID?>(nil)
    private let commands: CommandHandler
    private let ids: IDAllocator

    /// Reads from the composition's ``InMemoryReadModel``. A composition without one, such as that of a command, has no views.
    /// - Parameter render: writes an event as the API shows it, as the index does
    package convenience init(_ composition: Composition, render: @escaping EventRendering) {
        self.init(
            log: composition.log, database: composition.database, index: composition.find(),
            changes: composition.find(ChangeFeed.self), render: render, dependencies: composition.dependencies)
    }

    /// - Parameters:
    ///   - index: listens to the log's commits; `nil` for no views
    ///   - changes: listens to the index; `nil` for no streams of changes
    ///   - render: writes an event as the API shows it, as the index does
    init(
        log: EventLog, database: PostgresClient, index: InMemoryReadModel? = nil, changes: ChangeFeed? = nil,
        render: @escaping EventRendering, dependencies: Dependencies
    ) {
        self.database = database
        self.index = index
        self.changes = changes
        self.render = render
        self.dependencies = dependencies
        commands = CommandHandler(
            log: log, database: database, dependencies: dependencies,
            state: StateReader(of: EventsProjection(), client: database))
        ids = IDAllocator(Self.ids, client: database)
        rowsByID = BatchedLookup(waiterLimit: Self.rowReaders) { try await EventsModule.events($0, in: database) }
    }

    /// Creates an event. A user may exceed the quota by the creations that are under way, and while this node loads its index.
    /// - Returns: the event, and the position at which it is recorded
    /// - Throws: ``IndexFullError``, ``EventRejection/tooManyEvents(maximum:)``, and the errors of `CommandHandler.handle(_:by:_:)`
    public func create(_ details: EventDetails, by owner: UserID, context: CommandContext) async throws -> (
        id: EventID, position: Int64
    ) {
        let content = index?.content
        guard content?.isFull != true else { throw IndexFullError() }
        let place = try await commands.handle(context, by: owner.stream) {
            let created = try decideCreation(
                of: details, by: owner, liveEvents: content?.count(of: owner), quota: content?.quota ?? 0)
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            let id = EventID(rawValue: try await ids.next())
            return Decision(created, to: id.stream, after: 0, by: owner.rawValue)
        }.place
        return try await waitUntilVisible(place)
    }

    /// The event as the log has it at a version of its stream; `nil` if it was erased.
    private func recordedEvent(_ id: EventID, at version: Int32) async throws -> Event? {
        var row = EventRow(id: id, version: 0)
        let reader = LogReader(client: database)
        // Two of them have the owner and all details, however many the stream has.
        for through in [min(version, 1), version] {
            guard
                let recorded = try await reader.newest(
                    of: id.stream, types: ["EventCreated", "EventUpdated"], through: through)
            else { return nil }
            row.apply(try recorded.decoded(as: EventDomainEvent.self))
        }
        guard let owner = row.owner, let details = row.details, !row.isErased else { return nil }
        return Event(id: id, owner: owner, version: version, details: details)
    }

    /// Decides on the present event. If another writer is faster, it decides again.
    /// - Returns: the position at which the change is recorded, and the version that the command left, also for a repetition after which
    ///   the event changed again; `nil` if it was erased since
    /// - Throws: ``EventRejection``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func update(
        _ id: EventID, _ patch: EventPatch, by caller: UserID, if condition: VersionCondition = VersionCondition(),
        context: CommandContext
    ) async throws -> (position: Int64, version: EventVersion?) {
        var candidates: [Event?] = []
        let place = try await self.change(id, by: caller, context) { event in
            let details = try decide(patch, of: event, by: caller, if: condition, mark: mark(of:))
            candidates = [event, details.flatMap { event?.applying($0) }]
            return details.map { .updated(RecordedDetails($0)) }
        }.place
        let position = try await waitUntilVisible(place).position
        // A repetition was decided on the version that the first attempt left, or on a later one.
        var event = candidates.compactMap(\.self).first { $0.version == place.version }
        if event == nil { event = try await recordedEvent(id, at: place.version) }
        return (position, event?.version(mark(of:)))
    }

    /// Cancels an event for ever. A repetition changes nothing.
    /// - Returns: the event, and a position from which on the cancellation is in the log
    /// - Throws: what ``update(_:_:by:if:context:)`` throws
    public func cancel(
        _ id: EventID, by caller: UserID, if condition: VersionCondition = VersionCondition(), context: CommandContext
    ) async throws -> (id: EventID, position: Int64) {
        let changed = try await change(id, by: caller, context) {
            try decideCancellation(of: $0, by: caller, if: condition, mark: mark(of:))
        }
        return try await waitUntilVisible(changed.place)
    }

    /// Hides an event from all users, on behalf of an operator. A repetition changes nothing.
    /// - Returns: the place that shows it, and whether nothing was recorded
    /// - Throws: what ``update(_:_:by:if:context:)`` throws
    public func hide(_ id: EventID, reason: HidingReason, context: CommandContext) async throws -> Operated {
        try await operate(on: id, context) { try decideHiding(of: $0, reason: reason) }
    }

    /// Shows a hidden event again, on behalf of an operator. A repetition changes nothing.
    /// - Returns: the place that shows it, and whether nothing was recorded
    /// - Throws: what ``update(_:_:by:if:context:)`` throws
    public func unhide(_ id: EventID, context: CommandContext) async throws -> Operated {
        try await operate(on: id, context) { try decideUnhiding(of: $0) }
    }

    /// What became of a command of an operator.
    public typealias Operated = (position: Int64, version: Int32, isRepeat: Bool)

    private func operate(
        on id: EventID, _ context: CommandContext, _ decide: (Event?) throws -> EventDomainEvent?
    ) async throws -> Operated {
        let (place, isRepeat) = try await change(id, by: nil, context, decide)
        _ = await index?.reaches(place.position)
        return (place.position, place.version, isRepeat)
    }

    private func mark(of event: Event) -> UInt32 { json(of: event).withRawSpan(EventVersion.mark) }

    /// Appends what the rule decides on the present event.
    /// - Parameters:
    ///   - actor: `nil` for an operator
    ///   - decide: returns `nil` if the event already is as the command wants it
    private func change(
        _ id: EventID, by actor: UserID?, _ context: CommandContext, _ decide: (Event?) throws -> EventDomainEvent?
    ) async throws -> (place: RecordedPlace, isRepeat: Bool) {
        try await commands.handle(context, by: actor?.stream) {
            let event = try await event(id)
            return Decision(try decide(event), to: id.stream, after: event?.version ?? 0, by: actor?.rawValue)
        }
    }

    /// Returns an event, a cancelled or hidden one too.
    /// - Throws: `PostgresError`, `FormatError`
    public func event(_ id: EventID) async throws -> Event? { try Self.event(in: await database.query(Self.query(of: id))) }

    /// Returns the events with these ids, cancelled and hidden ones too.
    static func events(_ ids: [EventID], in database: PostgresClient) async throws -> [EventID: Event] {
        let rows = try await database.query(
            """
            SELECT \(EventRow.columns) FROM \(identifier: EventsProjection.schema).events WHERE id = ANY(\(ids.map(\.rawValue)))
            """)
        // A row that cannot be read is left out: it fails its own readers alone, who read it again.
        return Dictionary(rows.compactMap { try? Event($0) }.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Selects an event, a cancelled or hidden one too. For modules that send it together with statements of their own.
    package static func query(of id: EventID) -> SQL {
        "SELECT \(EventRow.columns) FROM \(identifier: EventsProjection.schema).events WHERE id = \(id.rawValue)"
    }

    /// Makes the event from the rows of ``query(of:)``; `nil` if there is none.
    /// - Throws: `FormatError`, `PostgresError`
    package static func event(in rows: Rows) throws -> Event? { try rows.first.map { try Event($0) } }

    /// Checks that an event is live, and that a user owns it.
    /// - Throws: ``EventRejection/notFound``, ``EventRejection/hidden``, ``EventRejection/cancelled``, ``EventRejection/forbidden``,
    ///   `PostgresError`
    public func checkOwned(_ id: EventID, by user: UserID) async throws {
        guard try await event(id).live(for: user).owner == user else { throw EventRejection.forbidden }
    }

    /// Waits until this node's index contains the write, so that the caller's next read sees it; at most
    /// ``InMemoryReadModel/patienceSeconds``.
    private func waitUntilVisible(_ place: RecordedPlace) async throws -> (id: EventID, position: Int64) {
        guard let id = EventID(stream: place.stream) else {
            throw FormatError("a command on an event is recorded in the stream \(place.stream)")
        }
        _ = await index?.reaches(place.position)
        return (id, place.position)
    }
}

/// The index of this node has its largest size, so that the node takes no new events. Changes go on.
public struct IndexFullError: Error, Hashable, CustomStringConvertible {
    public var description: String { "the index has its largest size: raise HUMON_INDEX_MEGABYTES" }
}

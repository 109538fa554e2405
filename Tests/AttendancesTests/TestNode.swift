import Encoding
import EventStore
import Postgres
import ServiceLifecycle
import TestDatabase
import Testing
import Users

@testable import Attendances
@testable import Events

/// The modules of one server, with its log, its notifier and its counts. It has no index of events.
struct TestNode: Sendable {
    let attendances: AttendancesModule
    let events: EventsModule
    let counts: AttendanceCounts
    let reader: LogReader
    var standby: Standby?

    static let projections: [any Projection] = [EventsProjection(), AttendancesProjection()]

    static func withDatabase(_ body: @escaping @Sendable (TestDatabase) async throws -> Void) async throws {
        try await TestDatabase.with { database in
            try await prepare(database)
            try await body(database)
        }
    }

    static func prepare(_ database: TestDatabase) async throws {
        try await database.withClient(role: "humon_app", connections: 4) { client in
            try await ReadModels(projections: projections, client: client, logger: .quiet).prepare()
        }
    }

    /// - Parameters:
    ///   - isCounting: whether the counts run; without them PostgreSQL answers
    ///   - isInUse: whether the body starts with the counts in use
    ///   - standby: the database as its standby shows it. The node waits for it as long as a busy machine needs
    static func with(
        _ database: TestDatabase, isCounting: Bool = true, isInUse: Bool = true, standby: TestDatabase? = nil,
        _ body: @escaping @Sendable (TestNode) async throws -> Void
    ) async throws {
        try await database.withClient(role: "humon_app", connections: 5) { client in
            let notifier = LogNotifier(client: client, listens: true, pollSeconds: 0.1, logger: .quiet)
            try await database.withClient(role: "humon_app", connections: 1) { writer in
                let log = EventLog(client: writer, projections: projections, notifier: notifier, logger: .quiet)
                var context = ModuleContext(
                    log: log, database: client, dependencies: .system, notifier: notifier, logger: .quiet)
                let standby = standby.map { standby in
                    Standby(
                        client: PostgresClient(standby.configuration(role: "humon_app"), logger: .quiet), primary: client,
                        patienceSeconds: 60, logger: .quiet)
                }
                if let standby { context.add(standby) }
                let events = EventsModule(context) { event, bytes in bytes.append(contentsOf: "\(event.id.rawValue)".utf8) }
                context.add(events)
                let attendances = AttendancesModule(context)
                let counts = try #require(attendances.counts)
                let standbys: [any Service] = standby.map { [$0.client, $0] } ?? []
                let services: [any Service] = [notifier, log] + standbys + (isCounting ? attendances.services : [])
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for service in services { group.addTask { try await service.run() } }
                    defer { group.cancelAll() }
                    if isCounting, isInUse { try await eventually { counts.count(of: EventID(rawValue: 1)) != nil } }
                    try await body(
                        TestNode(
                            attendances: attendances, events: events, counts: counts, reader: LogReader(client: client),
                            standby: standby))
                }
            }
        }
    }

    /// Creates live events of the user 1.
    func create(_ count: Int = 1) async throws {
        for _ in 0..<count {
            let details = EventDetails(
                name: "Picnic", address: nil, coordinates: Coordinates(lat: 1, lon: 2),
                startedAt: Timestamp(milliseconds: 0), endedAt: nil)
            _ = try await events.create(CreateEvent(details: details, owner: UserID(rawValue: 1)), context: Self.context)
        }
    }

    @discardableResult
    func attend(_ event: Int64, by user: Int64, key: String? = nil) async throws -> Int64 {
        try await attendances.attend(
            AttendEvent(event: EventID(rawValue: event), by: UserID(rawValue: user)), context: Self.context(key))
    }

    @discardableResult
    func leave(_ event: Int64, by user: Int64, key: String? = nil) async throws -> Int64 {
        try await attendances.leave(
            LeaveEvent(event: EventID(rawValue: event), by: UserID(rawValue: user)), context: Self.context(key))
    }

    func cancel(_ event: Int64) async throws {
        _ = try await events.cancel(
            CancelEvent(id: EventID(rawValue: event), by: UserID(rawValue: 1)), context: Self.context)
    }

    func hide(_ event: Int64) async throws {
        _ = try await events.hide(try HideEvent(id: EventID(rawValue: event), reason: "spam"), context: Self.context)
    }

    func summary(_ event: Int64, for user: Int64? = nil, atLeast position: Int64? = nil) async throws -> AttendanceSummary {
        try await attendances.summary(
            of: EventID(rawValue: event), for: user.map(UserID.init(rawValue:)), atLeast: position)
    }

    func counted(_ event: Int64) -> Int32? { counts.count(of: EventID(rawValue: event))?.count }

    func attendees(_ event: Int64, after user: Int64? = nil, limit: Int = 1_000) async throws -> [Int64] {
        try await attendances.attendees(
            of: EventID(rawValue: event), after: user.map(UserID.init(rawValue:)), limit: limit
        ).users.map(\.rawValue)
    }

    /// The types in the stream of an attendance.
    func types(_ event: Int64, _ user: Int64) async throws -> [String] {
        try await reader.read(stream: StreamName("attendance-\(event)-\(user)")).map(\.envelope.event.type)
    }

    static let context = CommandContext(requestID: "test")

    private static func context(_ key: String?) -> CommandContext {
        CommandContext(requestID: "test", key: key.map { IdempotencyKey($0, request: $0.utf8) })
    }
}

import Encoding
import EventStore
import Postgres
import ServiceLifecycle
import TestDatabase
import Users

@testable import Attendances
@testable import Events

/// The attendances module of one server, beside the events module with its index.
extension TestNode where Module == AttendancesModule {
    var attendances: AttendancesModule { module }
    var events: EventsModule { module.events }

    private static var projections: [any Projection] { [EventsProjection(), AttendancesProjection()] }

    static func withDatabase(_ body: @escaping @Sendable (TestDatabase) async throws -> Void) async throws {
        try await TestDatabase.with(projections, body)
    }

    static func with(_ database: TestDatabase, _ body: @escaping @Sendable (TestNode) async throws -> Void) async throws {
        try await run(
            database, projections: projections,
            compose: { composition in
                let render: EventRendering = { event, bytes in bytes.append(contentsOf: "\(event.id.rawValue)".utf8) }
                let index = InMemoryReadModel(
                    EventsInMemory(limitBytes: 1_000_000_000, render: render), client: composition.database,
                    notifier: composition[LogNotifier.self], logger: .quiet)
                composition.log.add(index)
                composition.add(index)
                composition.add(EventsModule(composition, render: render))
                return (AttendancesModule(composition), [index])
            }
        ) { node in
            await node.events.untilReady()
            try await body(node)
        }
    }

    /// Runs one server on a database of its own.
    static func with(_ body: @escaping @Sendable (TestNode) async throws -> Void) async throws {
        try await withDatabase { try await with($0, body) }
    }

    /// Runs two servers on one database.
    static func withTwo(_ body: @escaping @Sendable (TestNode, TestNode) async throws -> Void) async throws {
        try await withDatabase { database in
            try await with(database) { one in try await with(database) { two in try await body(one, two) } }
        }
    }

    /// Creates live events of the user 1.
    func create(_ count: Int = 1) async throws {
        for _ in 0..<count {
            let details = EventDetails(
                name: "Picnic", coordinates: Coordinates(lat: 1, lon: 2), startedAt: Timestamp(milliseconds: 0))
            _ = try await events.create(details, by: UserID(rawValue: 1), context: Self.context)
        }
    }

    @discardableResult
    func attend(_ event: Int64, by user: Int64, key: String? = nil) async throws -> Int64 {
        try await attendances.attend(
            EventID(rawValue: event), by: UserID(rawValue: user), context: Self.context(key))
    }

    @discardableResult
    func leave(_ event: Int64, by user: Int64, key: String? = nil) async throws -> Int64 {
        try await attendances.leave(
            EventID(rawValue: event), by: UserID(rawValue: user), context: Self.context(key))
    }

    func cancel(_ event: Int64) async throws {
        _ = try await events.cancel(EventID(rawValue: event), by: UserID(rawValue: 1), context: Self.context)
    }

    func hide(_ event: Int64) async throws {
        _ = try await events.hide(EventID(rawValue: event), reason: try HidingReason("spam"), context: Self.context)
    }

    func summary(_ event: Int64, for user: Int64? = nil, atLeast position: Int64? = nil) async throws -> AttendanceSummary {
        try await attendances.summary(
            of: EventID(rawValue: event), for: user.map(UserID.init(rawValue:)), atLeast: position)
    }

    func attendees(_ event: Int64, after user: Int64? = nil, limit: Int = 1_000) async throws -> [Int64] {
        try await attendances.attendees(
            of: EventID(rawValue: event), after: user.map(UserID.init(rawValue:)), limit: limit
        ).users.map(\.rawValue)
    }

    /// The types in the stream of an attendance.
    func types(_ event: Int64, _ user: Int64) async throws -> [String] {
        try await reader.read(stream: StreamName("attendance-\(event)-\(user)")).map(\.envelope.event.type)
    }

    static var context: CommandContext { CommandContext(requestID: "test") }

    private static func context(_ key: String?) -> CommandContext {
        CommandContext(requestID: "test", key: key.map { IdempotencyKey($0, request: $0.utf8) })
    }
}

import Encoding
import EventStore
import Postgres
import ServiceLifecycle
import SpatialIndex
import TestDatabase
import TestFixture
import Testing
import Users

@testable import Events

extension Trait where Self == Fixture<TestDatabase> {
    /// A migrated database with an empty read model: ``database``.
    static var database: Self { Self { try await TestDatabase.with([EventsProjection()], $0) } }
}

extension Trait where Self == Fixture<TestNode<EventsModule>> {
    /// One server on a database of its own: ``node``.
    static func node(listens: Bool = true) -> Self { Self { try await TestNode.with(listens: listens, $0) } }
}

var database: TestDatabase { Fixture.current }
var node: TestNode<EventsModule> { Fixture.current }

/// The events module of one server, with its index.
extension TestNode where Module == EventsModule {
    var index: InMemoryReadModel { composition[InMemoryReadModel.self] }

    static var render: EventRendering {
        { event, bytes in
            var details = event.details
            // In a fixed order.
            let texts = EventText.allCases.compactMap { name in
                details.texts.removeValue(forKey: name).map { "\(name.rawValue): \($0)" }
            }
            bytes.append(contentsOf: "\(event.id.rawValue) of \(event.owner.rawValue): \(details) \(texts)".utf8)
        }
    }

    static func withDatabase(_ body: @Sendable (TestDatabase) async throws -> Void) async throws {
        try await TestDatabase.with([EventsProjection()], body)
    }

    /// - Parameters:
    ///   - eventsPerUser: 0 for no quota
    ///   - isFilled: whether the body starts with the index in use
    ///   - listener: gets the changes instead of the node's feed of changes
    static func with(
        _ database: TestDatabase, limitBytes: Int = 1_000_000_000, eventsPerUser: Int = 0, listens: Bool = true,
        isFilled: Bool = true, listener: (any EventChangeListener)? = nil,
        _ body: @Sendable (TestNode) async throws -> Void
    ) async throws {
        try await run(
            database, projections: [EventsProjection()], listens: listens,
            compose: { composition in
                // Without heartbeats, so that tests can compare whole streams.
                let changes = ChangeFeed(heartbeatSeconds: 86_400)
                let index = InMemoryReadModel(
                    EventsInMemory(
                        limitBytes: limitBytes, eventsPerUser: eventsPerUser, render: render, listener: listener ?? changes),
                    client: composition.database, notifier: composition[LogNotifier.self],
                    logger: .quiet)
                composition.log.add(index)
                composition.add(index)
                composition.add(changes)
                return (EventsModule(composition, render: render), [changes, index])
            }
        ) { node in
            if isFilled { await node.module.untilReady() }
            try await body(node)
        }
    }

    /// Runs one server on a database of its own.
    static func with(
        limitBytes: Int = 1_000_000_000, listens: Bool = true,
        _ body: @Sendable (TestNode) async throws -> Void
    ) async throws {
        try await withDatabase { try await with($0, limitBytes: limitBytes, listens: listens, body) }
    }

    /// Runs two servers on one database.
    static func withTwo(_ body: @escaping @Sendable (TestNode, TestNode) async throws -> Void) async throws {
        try await withDatabase { database in
            try await with(database) { one in try await with(database) { two in try await body(one, two) } }
        }
    }

    @discardableResult
    func create(_ details: EventDetails = .picnic, by owner: UserID = .ann) async throws -> (id: EventID, position: Int64) {
        try await module.create(details, by: owner, context: CommandContext(requestID: "test"))
    }

    @discardableResult
    func update(_ id: EventID, to details: EventDetails, by owner: UserID = .ann) async throws -> Int64 {
        try await module.update(id, .replace(details), by: owner, context: CommandContext(requestID: "test")).position
    }

    @discardableResult
    func cancel(_ id: EventID, by owner: UserID = .ann) async throws -> Int64 {
        try await module.cancel(id, by: owner, context: CommandContext(requestID: "test")).position
    }

    @discardableResult
    func hide(_ id: EventID) async throws -> Int64 {
        try await module.hide(id, reason: try HidingReason("Spam"), context: CommandContext(requestID: "test")).position
    }

    @discardableResult
    func unhide(_ id: EventID) async throws -> Int64 {
        try await module.unhide(id, context: CommandContext(requestID: "test")).position
    }

    /// The ids of a user's own events, as the API lists them.
    func own(of owner: UserID = .ann, since position: Int64? = nil) async throws -> [EventID] {
        try await module.ownEvents(of: owner, after: nil, limit: 1_000, atLeast: position).events
            .map { EventID(rawValue: $0.entry.id) }
    }

    /// The API's answer for all events around a place.
    func found(by search: NearestRequest, since position: Int64? = nil) async throws -> [String] {
        try await module.view(atLeast: position).find(search).texts
    }
}

extension NearestRequest {
    static let everywhere = NearestRequest(centre: Coordinates(lat: 10, lon: 20), radius: NearestRequest.radiusLimit)
}

extension RenderedEvents {
    var texts: [String] {
        var texts: [String] = []
        forEachJSON { texts.append(String(utf8: $0)) }
        return texts
    }
}

extension RenderedEvent {
    var text: String { withJSON { String(utf8: $0) } }
}

extension EventDetails {
    /// One of many places.
    static func at(_ number: Int) -> EventDetails {
        var details = EventDetails.picnic
        details.name = "Picnic \(number)"
        details.coordinates = Coordinates(lat: Double(number * 7 % 170) - 85, lon: Double(number * 13 % 360) - 180)
        return details
    }
}

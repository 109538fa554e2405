package import EventStore
internal import Foundation
internal import Notation
package import Postgres
public import Users

/// The front door of the module.
public struct EventsModule: Sendable {
    private let log: EventLog
    private let database: PostgresClient
    private let ids: IDSource
    private let surroundings: Surroundings

    package init(log: EventLog, database: PostgresClient, surroundings: Surroundings) {
        self.log = log
        self.database = database
        self.surroundings = surroundings
        ids = IDSource(sequence: "log.event_ids", client: database)
    }

    public func create(_ command: CreateEvent, origin: Origin) async throws -> EventID {
        let id = EventID(rawValue: try await ids.next())
        try await append(.created(decide(command)), to: id, version: 0, by: command.owner, origin: origin)
        return id
    }

    /// Decides on the event as it stands, again and again while others are faster: every time somebody's change is recorded,
    /// so it comes to an end.
    /// - Throws: ``EventRejection``
    public func update(_ command: UpdateEvent, origin: Origin) async throws -> EventID {
        while true {
            let event = try await event(command.id)
            let updated = try decide(command, on: event)
            do {
                try await append(.updated(updated), to: command.id, version: event?.version ?? 0, by: command.by, origin: origin)
                return command.id
            } catch is VersionConflict {
                try Task.checkCancellation()
            }
        }
    }

    public func event(_ id: EventID) async throws -> Event? {
        let rows = try await database.query(
            """
            SELECT owner_id, version, name, address, lat, lon, started_at, ended_at FROM events.events WHERE id = \(id.rawValue)
            """
        )
        return try rows.first.map { row in
            let (owner, version, name, address, lat, lon, startedAt, endedAt) = try row.decode(
                (Int64, Int32, String, String?, Double, Double, Timestamp, Timestamp?).self
            )
            let details = EventDetails(
                name: name, address: address, coordinates: Coordinates(lat: lat, lon: lon), startedAt: startedAt, endedAt: endedAt
            )
            return Event(id: id, owner: UserID(rawValue: owner), version: version, details: details)
        }
    }

    public func exists(_ id: EventID) async throws -> Bool {
        try await database.query("SELECT 1::bigint FROM events.events WHERE id = \(id.rawValue)").isEmpty == false
    }

    public func nearest(_ search: NearbySearch) async throws -> NearbySearch.Page {
        try search.page(await database.query(search.query))
    }

    private func append(
        _ event: EventDomainEvent, to id: EventID, version: Int32, by actor: UserID, origin: Origin
    ) async throws {
        _ = try await log.append(
            Append(
                id: surroundings.randomUUID(),
                stream: id.stream,
                expectedVersion: version,
                recordedAt: surroundings.now(),
                metadata: origin.metadata(actor: actor),
                event: event
            )
        )
    }
}

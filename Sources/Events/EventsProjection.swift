internal import Encoding
internal import EventStore
internal import Postgres
internal import SpatialIndex
internal import Users

/// The read model of events: their present details, and the columns of the nearby search.
struct EventsProjection: Projection {
    static let name = "events"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["address", "lat", "lon", "band", "x", "y", "z"]

    struct Changes: Sendable, Hashable {
        struct Row: Sendable, Hashable {
            var id: EventID
            var version: Int32
            /// `nil` leaves the owner as it is: only `EventCreated` names the owner.
            var owner: UserID?
            var details: EventDetails
        }

        /// One row for each event, by id.
        var created: [Row] = []
        var updated: [Row] = []
    }

    static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).events (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            owner_id bigint NOT NULL,
            name text NOT NULL,
            address text,
            lat double precision NOT NULL,
            lon double precision NOT NULL,
            started_at timestamptz NOT NULL,
            ended_at timestamptz,
            -- The latitude's twentieth of a degree, and the place on the unit sphere.
            band smallint NOT NULL,
            x double precision NOT NULL,
            y double precision NOT NULL,
            z double precision NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        "CREATE INDEX events_near ON \(schema).events (band, lon);"
    }

    /// The last domain event of an event has all of its details, except for the owner.
    func fold(_ envelopes: [EventEnvelope<EventDomainEvent>]) -> Changes {
        var rows: [EventID: Changes.Row] = [:]
        for envelope in envelopes {
            guard let id = EventID(stream: envelope.stream) else { continue }
            switch envelope.event {
            case .created(let created):
                rows[id] = .init(id: id, version: envelope.version, owner: created.owner, details: created.details)
            case .updated(let updated):
                rows[id] = .init(id: id, version: envelope.version, owner: rows[id]?.owner, details: updated.details)
            }
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(created: ordered.filter { $0.owner != nil }, updated: ordered.filter { $0.owner == nil })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        var writes: [Write] = []
        if !changes.created.isEmpty {
            writes.append(.insert(Self.layout.insertion(of: changes.created.map(IndexedRow.init), in: schema)))
        }
        if !changes.updated.isEmpty {
            let layout = Self.layout.without("owner_id")
            writes.append(.run(layout.update(changes.updated.map(IndexedRow.init), by: "id", in: schema)))
        }
        return writes
    }

    /// A row with the columns of the nearby search.
    private struct IndexedRow {
        var row: Changes.Row
        var band: Int16
        var vector: UnitVector

        init(_ row: Changes.Row) {
            self.row = row
            band = Band(lat: row.details.coordinates.lat).number
            vector = UnitVector(row.details.coordinates)
        }
    }

    private static let layout = RowLayout<IndexedRow>(
        table: "events",
        [
            .init("id") { $0.row.id.rawValue },
            .init("version") { $0.row.version },
            .init("owner_id") { $0.row.owner?.rawValue },
            .init("name") { $0.row.details.name },
            .init("address") { $0.row.details.address },
            .init("lat") { $0.row.details.coordinates.lat },
            .init("lon") { $0.row.details.coordinates.lon },
            .init("started_at") { $0.row.details.startedAt },
            .init("ended_at") { $0.row.details.endedAt },
            .init("band") { $0.band },
            .init("x") { $0.vector.x },
            .init("y") { $0.vector.y },
            .init("z") { $0.vector.z },
        ]
    )
}

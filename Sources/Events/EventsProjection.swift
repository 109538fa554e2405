package import EventStore
internal import Notation
package import Postgres
package import Users

/// The events as they stand now, and what nearby search needs.
package struct EventsProjection: Projection {
    package static let schema = "events"
    package static let version: Int32 = 1

    package struct Changes: Sendable, Hashable {
        package struct Row: Sendable, Hashable {
            package var id: EventID
            package var version: Int32
            /// nil leaves the owner as it is: only the first domain event of an event says whose it is.
            package var owner: UserID?
            package var details: EventDetails
        }

        /// One row an event, by id.
        package var created: [Row] = []
        package var updated: [Row] = []
    }

    package init() {}

    package static func tables(in schema: String) -> String {
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
        CREATE INDEX events_near ON \(schema).events (band, lon);
        """
    }

    /// The last domain event of an event says all there is to say of it, but for the owner.
    package func fold(_ occurrences: [Occurrence<EventDomainEvent>]) -> Changes {
        var rows: [EventID: Changes.Row] = [:]
        for occurrence in occurrences {
            guard let id = EventID(stream: occurrence.stream) else { continue }
            switch occurrence.event {
            case .created(let created):
                rows[id] = .init(id: id, version: occurrence.version, owner: created.owner, details: created.details)
            case .updated(let updated):
                rows[id] = .init(id: id, version: occurrence.version, owner: rows[id]?.owner, details: updated.details)
            }
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(created: ordered.filter { $0.owner != nil }, updated: ordered.filter { $0.owner == nil })
    }

    package func statements(for changes: Changes, in schema: String) -> [SQL] {
        var statements: [SQL] = []
        if !changes.created.isEmpty {
            let columns = Columns(changes.created)
            statements.append(
                """
                INSERT INTO \(identifier: schema).events
                    (id, version, owner_id, name, address, lat, lon, started_at, ended_at, band, x, y, z)
                SELECT * FROM unnest(
                    \(columns.ids), \(columns.versions), \(changes.created.map { $0.owner?.rawValue }),
                    \(columns.names), \(columns.addresses), \(columns.lats), \(columns.lons),
                    \(columns.startedAts), \(columns.endedAts), \(columns.bands), \(columns.xs), \(columns.ys), \(columns.zs)
                )
                """
            )
        }
        if !changes.updated.isEmpty {
            let columns = Columns(changes.updated)
            statements.append(
                """
                UPDATE \(identifier: schema).events AS e
                SET version = n.version, name = n.name, address = n.address, lat = n.lat, lon = n.lon,
                    started_at = n.started_at, ended_at = n.ended_at, band = n.band, x = n.x, y = n.y, z = n.z
                FROM unnest(
                    \(columns.ids), \(columns.versions), \(columns.names), \(columns.addresses), \(columns.lats), \(columns.lons),
                    \(columns.startedAts), \(columns.endedAts), \(columns.bands), \(columns.xs), \(columns.ys), \(columns.zs)
                ) AS n (id, version, name, address, lat, lon, started_at, ended_at, band, x, y, z)
                WHERE e.id = n.id
                """
            )
        }
        return statements
    }
}

/// Rows, turned into columns.
private struct Columns {
    var ids: [Int64]
    var versions: [Int32]
    var names: [String]
    var addresses: [String?]
    var lats: [Double]
    var lons: [Double]
    var startedAts: [Timestamp]
    var endedAts: [Timestamp?]
    var bands: [Int16]
    var xs: [Double]
    var ys: [Double]
    var zs: [Double]

    init(_ rows: [EventsProjection.Changes.Row]) {
        let details = rows.map(\.details)
        let vectors = details.map { UnitVector($0.coordinates) }
        ids = rows.map(\.id.rawValue)
        versions = rows.map(\.version)
        names = details.map(\.name)
        addresses = details.map(\.address)
        lats = details.map(\.coordinates.lat)
        lons = details.map(\.coordinates.lon)
        startedAts = details.map(\.startedAt)
        endedAts = details.map(\.endedAt)
        bands = details.map { Band(lat: $0.coordinates.lat).number }
        xs = vectors.map(\.x)
        ys = vectors.map(\.y)
        zs = vectors.map(\.z)
    }
}

internal import Encoding
internal import EventStore
internal import Postgres
internal import SpatialIndex
internal import Users

/// The read model of events: their present details, and the columns of the nearby search.
struct EventsProjection: Projection {
    static let name = "events"
    static let version: Int32 = 2
    static let personalColumns: Set<String> = ["address", "lat", "lon", "band", "x", "y", "z"]

    struct Changes: Sendable, Hashable {
        /// The events of the batch's `EventCreated`, as the whole batch leaves them, by id.
        var created: [EventRow] = []
        /// The changed parts of each other event, by id.
        var changed: [EventRow] = []
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
            z double precision NOT NULL,
            is_cancelled boolean NOT NULL,
            is_hidden boolean NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        """
        CREATE INDEX events_near ON \(schema).events (band, lon);
        CREATE INDEX events_of_owner ON \(schema).events (owner_id, id);
        """
    }

    func fold(_ envelopes: [EventEnvelope<EventDomainEvent>]) -> Changes {
        var rows: [EventID: EventRow] = [:]
        for envelope in envelopes {
            guard let id = EventID(stream: envelope.stream) else { continue }
            rows[id, default: EventRow(id: id, version: 0)].apply(envelope.event, version: envelope.version)
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(created: ordered.filter { $0.owner != nil }, changed: ordered.filter { $0.owner == nil })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        var writes: [Write] = []
        func update<Row>(_ rows: [Row], _ layout: RowLayout<Row>) {
            if !rows.isEmpty { writes.append(.run(layout.update(rows, by: "id", in: schema))) }
        }
        if !changes.created.isEmpty {
            let created = changes.created.map(EventRow.Written.init)
            writes.append(.insert(EventRow.layout.insertion(of: created, in: schema)))
        }
        update(changes.changed.filter { $0.details != nil }.map(EventRow.Written.init), EventRow.details)
        update(changes.changed.filter { $0.isCancelled != nil }, EventRow.cancellation)
        update(changes.changed.filter { $0.isHidden != nil }, EventRow.hiding)
        return writes
    }
}

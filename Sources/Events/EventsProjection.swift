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

    /// The changes of rows. In this type, `Event` is the domain event of ``Projection``, so the event itself is `Events.Event`.
    struct Changes: Sendable, Hashable {
        /// What a batch changes in an event that an earlier batch created. `nil` leaves a part as it is.
        struct Row: Sendable, Hashable {
            var id: EventID
            var version: Int32
            var details: EventDetails?
            var isCancelled: Bool?
            var isHidden: Bool?
        }

        /// The events of the batch's `EventCreated`, as the whole batch leaves them, by id.
        var created: [Events.Event] = []
        /// One row for each other event, by id.
        var changed: [Row] = []
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
        var created: [EventID: Events.Event] = [:]
        var changed: [EventID: Changes.Row] = [:]
        for envelope in envelopes {
            guard let id = EventID(stream: envelope.stream) else { continue }
            if case .created(let event) = envelope.event {
                created[id] = Events.Event(id: id, owner: event.owner, version: envelope.version, details: event.details)
            } else if created[id]?.apply(envelope.event, version: envelope.version) == nil {
                changed[id, default: .init(id: id, version: 0)].apply(envelope.event, version: envelope.version)
            }
        }
        return Changes(
            created: created.values.sorted { $0.id.rawValue < $1.id.rawValue },
            changed: changed.values.sorted { $0.id.rawValue < $1.id.rawValue })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        var writes: [Write] = []
        func update<Row>(_ rows: [Row], _ layout: RowLayout<Row>) {
            if !rows.isEmpty { writes.append(.run(layout.update(rows, by: "id", in: schema))) }
        }
        if !changes.created.isEmpty {
            writes.append(.insert(Self.layout.insertion(of: changes.created.map(IndexedRow.init), in: schema)))
        }
        update(changes.changed.compactMap(IndexedRow.init), Self.details)
        update(changes.changed.filter { $0.isCancelled != nil }, Self.cancellation)
        update(changes.changed.filter { $0.isHidden != nil }, Self.hiding)
        return writes
    }

    /// A row with the columns of the nearby search. Owner and flags are `nil` in an update of the details.
    private struct IndexedRow {
        var id: EventID
        var version: Int32
        var owner: UserID?
        var details: EventDetails
        var isCancelled: Bool?
        var isHidden: Bool?
        var band: Int16
        var vector: UnitVector

        init(_ event: Events.Event) {
            self.init(id: event.id, version: event.version, details: event.details)
            (owner, isCancelled, isHidden) = (event.owner, event.isCancelled, event.isHidden)
        }

        /// `nil` if the details do not change.
        init?(_ row: Changes.Row) {
            guard let details = row.details else { return nil }
            self.init(id: row.id, version: row.version, details: details)
        }

        private init(id: EventID, version: Int32, details: EventDetails) {
            self.id = id
            self.version = version
            self.details = details
            band = Band(lat: details.coordinates.lat).number
            vector = UnitVector(details.coordinates)
        }
    }

    private static let layout = RowLayout<IndexedRow>(
        table: "events",
        [
            .init("id") { $0.id.rawValue },
            .init("version") { $0.version },
            .init("owner_id") { $0.owner?.rawValue },
            .init("name") { $0.details.name },
            .init("address") { $0.details.address },
            .init("lat") { $0.details.coordinates.lat },
            .init("lon") { $0.details.coordinates.lon },
            .init("started_at") { $0.details.startedAt },
            .init("ended_at") { $0.details.endedAt },
            .init("band") { $0.band },
            .init("x") { $0.vector.x },
            .init("y") { $0.vector.y },
            .init("z") { $0.vector.z },
            .init("is_cancelled") { $0.isCancelled },
            .init("is_hidden") { $0.isHidden },
        ]
    )

    private static let details = layout.without("owner_id").without("is_cancelled").without("is_hidden")

    private static let cancellation = flag("is_cancelled") { $0.isCancelled }
    private static let hiding = flag("is_hidden") { $0.isHidden }

    private static func flag(_ name: String, _ value: @escaping @Sendable (Changes.Row) -> Bool?) -> RowLayout<Changes.Row> {
        RowLayout(table: "events", [.init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init(name, value)])
    }
}

extension Event {
    /// Applies a later domain event of this event.
    mutating func apply(_ event: EventDomainEvent, version: Int32) {
        self.version = version
        switch event {
        case .created(let created): (owner, details) = (created.owner, created.details)
        case .updated(let updated): details = updated.details
        case .cancelled: isCancelled = true
        case .hidden: isHidden = true
        case .unhidden: isHidden = false
        }
    }
}

extension EventsProjection.Changes.Row {
    fileprivate mutating func apply(_ event: EventDomainEvent, version: Int32) {
        self.version = version
        switch event {
        case .created(let created): details = created.details
        case .updated(let updated): details = updated.details
        case .cancelled: isCancelled = true
        case .hidden: isHidden = true
        case .unhidden: isHidden = false
        }
    }
}

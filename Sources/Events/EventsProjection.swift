internal import Encoding
internal import EventStore
internal import Postgres
internal import SpatialIndex
internal import Users

/// The read model of events: their present details, and their places on the unit sphere.
struct EventsProjection: Projection {
    static let name = "events"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["name", "address", "lat", "lon", "band", "x", "y", "z"]

    struct Changes: Sendable, Hashable {
        /// The events of the batch's `EventCreated`, as the whole batch leaves them, by id.
        var created: [EventRow] = []
        /// The changed parts of each other event, by id.
        var changed: [EventRow] = []
        /// The events that have no row any more.
        var erased: [EventID] = []
    }

    static let tables =
        """
        CREATE TABLE events (
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

    static let indexes =
        """
        CREATE INDEX events_near ON events (band, lon);
        CREATE INDEX events_of_owner ON events (owner_id, id);
        """

    func fold(_ envelopes: [EventEnvelope<EventDomainEvent>]) -> Changes {
        var rows: [EventID: EventRow] = [:]
        for envelope in envelopes {
            guard let id = EventID(stream: envelope.stream) else { continue }
            rows[id, default: EventRow(id: id, version: 0)].apply(envelope.event, version: envelope.version)
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        let present = ordered.filter { !$0.isErased }
        return Changes(
            created: present.filter { $0.owner != nil }, changed: present.filter { $0.owner == nil },
            erased: ordered.filter(\.isErased).map(\.id))
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let erased = changes.erased.map(\.rawValue)
        return .inserting(changes.created.map(EventRow.Written.init), EventRow.layout, in: schema)
            + .updating(changes.changed.filter { $0.details != nil }.map(EventRow.Written.init), EventRow.details, in: schema)
            + .updating(changes.changed.filter { $0.isCancelled != nil }, EventRow.cancellation, in: schema)
            + .updating(changes.changed.filter { $0.isHidden != nil }, EventRow.hiding, in: schema)
            + (erased.isEmpty ? [] : [.run("DELETE FROM \(identifier: schema).events WHERE id = ANY(\(erased))")])
    }
}

/// What domain events make of one event, and its row in the read model. It is the only fold of events, and the only place that names
/// the columns: the projection writes them here, every query reads them here.
struct EventRow: Sendable, Hashable {
    var id: EventID
    /// The version of the last domain event.
    var version: Int32
    /// `EventCreated` alone has the owner. Here and below, `nil` leaves a part of the event as it is.
    var owner: UserID?
    var details: EventDetails?
    var isCancelled: Bool?
    var isHidden: Bool?
    /// The event has no row any more. A rebuild reads erased details before it reads `EventErased`.
    var isErased = false

    /// Applies a later domain event of this event.
    mutating func apply(_ event: EventDomainEvent, version: Int32) {
        self.version = version
        switch event {
        case .created(let owner, let details):
            self.owner = owner
            apply(details)
        case .updated(let details): apply(details)
        case .cancelled: isCancelled = true
        case .hidden: isHidden = true
        case .unhidden: isHidden = false
        case .erased: isErased = true
        }
    }

    private mutating func apply(_ recorded: RecordedDetails) {
        switch recorded.details {
        case .present(let details): self.details = details
        case .erased: isErased = true
        }
    }
}

extension EventRow {
    /// A row with the columns of its place, which the details give.
    struct Written: Sendable {
        fileprivate let row: EventRow
        fileprivate let vector: UnitVector?

        init(_ row: EventRow) {
            self.row = row
            vector = row.details.map { UnitVector($0.coordinates) }
        }
    }

    /// The columns that make an event, in the order in which ``Event/init(_:)`` reads them.
    private static let event: [RowLayout<Written>.Column] = [
        .init("id") { $0.row.id.rawValue },
        .init("owner_id") { $0.row.owner?.rawValue },
        .init("version") { $0.row.version },
        .init("name") { $0.row.details?.name },
        .init("address") { $0.row.details?.address },
        .init("lat") { $0.row.details?.coordinates.lat },
        .init("lon") { $0.row.details?.coordinates.lon },
        .init("started_at") { $0.row.details?.startedAt },
        .init("ended_at") { $0.row.details?.endedAt },
        .init("is_cancelled") { $0.row.isCancelled ?? false },
        .init("is_hidden") { $0.row.isHidden ?? false },
    ]

    /// The columns of the place. No search reads ``band(lat:)`` and its index.
    private static let search: [RowLayout<Written>.Column] = [
        .init("band") { $0.row.details.map { EventRow.band(lat: $0.coordinates.lat) } },
        .init("x") { $0.vector?.x },
        .init("y") { $0.vector?.y },
        .init("z") { $0.vector?.z },
    ]

    /// From -1,800 at the south pole to 1,800 at the north pole: a band is 5.6 km of latitude.
    static func band(lat: Double) -> Int16 { Int16((lat * 20).rounded(.down)) }

    static let layout = RowLayout(table: "events", event + search)
    static let details = layout.without("owner_id").without("is_cancelled").without("is_hidden")
    static let cancellation = flag("is_cancelled") { $0.isCancelled }
    static let hiding = flag("is_hidden") { $0.isHidden }

    private static func flag(_ name: String, _ value: @escaping @Sendable (EventRow) -> Bool?) -> RowLayout<EventRow> {
        RowLayout(table: "events", [.init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init(name, value)])
    }
}

extension EventRow {
    /// The columns that ``Event/init(_:)`` reads.
    static let columns = RowLayout(table: "events", event).names

    /// Copies all events of the read model, cancelled and hidden ones too, with the vectors that the writer computed. Another
    /// processor may compute another last bit. ``copied(_:)`` reads a row.
    static func copyAll(
        _ connection: LeasedConnection, _ body: @escaping @Sendable (CopiedRows) throws -> Void
    ) async throws {
        let columns = event.map(\.name) + ["x", "y", "z"]
        try await connection.copyRows(
            of: "events", in: EventsProjection.schema, columns: columns, atOnce: 1_000, body)
    }

    /// - Throws: `FormatError`, `CellError`
    static func copied(_ row: inout CopiedRow) throws -> (Event, UnitVector) {
        (try Event(&row), try UnitVector(storedX: try row.next(), y: try row.next(), z: try row.next()))
    }
}

extension Event {
    /// Reads the columns ``EventRow/columns``.
    /// - Throws: `FormatError` with event, version and field; what the reader throws
    init(_ columns: inout (some ColumnReader & ~Escapable)) throws {
        self.init(
            id: EventID(rawValue: try columns.next()), owner: UserID(rawValue: try columns.next()), version: try columns.next(),
            details: EventDetails(
                name: try columns.next(), address: try columns.next(),
                coordinates: Coordinates(lat: try columns.next(), lon: try columns.next()), startedAt: try columns.next(),
                endedAt: try columns.next()),
            isCancelled: try columns.next(), isHidden: try columns.next())
        try check()
    }

    /// - Throws: `FormatError` with event, version and field, `PostgresError`
    init(_ row: Row) throws {
        var columns = row.columns
        try self.init(&columns)
    }

    /// Checks a row like the log, because another program may have written it.
    /// - Throws: ``FormatError`` with event, version and field
    func check() throws(FormatError) {
        do {
            guard id.rawValue > 0 else { throw FormatError("id is not a number from 1") }
            guard owner.rawValue > 0 else { throw FormatError("owner_id is not a number from 1") }
            // The next version must fit too.
            guard (1..<Int32.max).contains(version) else {
                throw FormatError("version is not a number from 1 to \(Int32.max - 1)")
            }
            try details.check()
        } catch {
            throw FormatError(
                """
                version \(version) of \(id.stream) in the read model \(EventsProjection.schema): \(error). If the log has it right \
                (humon log verify), humon projections rebuild \(EventsProjection.name) mends it
                """)
        }
    }
}

extension UnitVector {
    /// Makes a unit vector from a row of the read model.
    /// - Throws: ``FormatError``
    init(storedX x: Double, y: Double, z: Double) throws(FormatError) {
        // Rounding keeps a coordinate of a unit vector at 1 or below; the last bit may differ on another processor.
        let range = -1.000_001...1.000_001
        guard range.contains(x), range.contains(y), range.contains(z) else {
            throw FormatError("x, y or z of the read model \(EventsProjection.schema) is not a number from -1 to 1")
        }
        self.init(x: x, y: y, z: z)
    }
}

internal import Encoding
internal import EventStore
internal import Postgres
internal import Users

/// The read model of events: their present details. Nodes copy it into their indexes, and commands read an event by its id.
struct EventsProjection: Projection {
    static let name = "events"
    static let version: Int32 = 1
    static let personalColumns = RecordedDetails.personalMembers

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
            \(EventText.allCases.map { "\($0.rawValue) text," }.joined(separator: " "))
            revised_at timestamptz NOT NULL,
            is_cancelled boolean NOT NULL,
            is_hidden boolean NOT NULL
        ) WITH (
            -- Room on each page for changed rows. No index has a column that changes, so that these are HOT updates.
            fillfactor = 90,
            -- As for the log: a vacuum writes the summaries that events_of_owner lacks.
            autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000
        );
        """

    /// For erasures and exports of persons. A summary tells which owners the rows of 32 pages have, about 2,000. A B-tree would make each
    /// insertion write a random page.
    static let indexes =
        """
        CREATE INDEX events_of_owner ON events USING brin (owner_id int8_bloom_ops (n_distinct_per_range = 2000))
        WITH (pages_per_range = 32, autosummarize = off);
        """

    func fold(_ envelopes: [EventEnvelope<EventDomainEvent>]) -> Changes {
        var rows: [EventID: EventRow] = [:]
        for envelope in envelopes {
            guard let id = EventID(stream: envelope.stream) else { continue }
            rows[id, default: EventRow(id: id, version: 0)].apply(envelope)
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        let present = ordered.filter { !$0.isErased }
        return Changes(
            created: present.filter { $0.owner != nil }, changed: present.filter { $0.owner == nil },
            erased: ordered.filter(\.isErased).map(\.id))
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let erased = changes.erased.map(\.rawValue)
        return .inserting(changes.created, EventRow.layout, in: schema)
            + .updating(changes.changed.filter { $0.details != nil }, EventRow.details, in: schema)
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
    /// `EventCreated` has the owner, and for the index alone `EventUnhidden`. Here and below, `nil` leaves a part of the event as it is.
    var owner: UserID?
    var details: EventDetails?
    var isCancelled: Bool?
    var isHidden: Bool?
    /// The event has no row any more. A rebuild reads erased details before it reads `EventErased`.
    var isErased = false
    /// The time of the last domain event.
    var revisedAt = Timestamp(milliseconds: 0)

    /// Applies a later domain event of this event.
    mutating func apply(_ envelope: EventEnvelope<EventDomainEvent>) {
        (version, revisedAt) = (envelope.version, envelope.recordedAt)
        switch envelope.event {
        case .created(let new): apply(new)
        case .updated(let details): apply(details)
        case .cancelled: isCancelled = true
        case .hidden: isHidden = true
        // The row still has the owner and the details.
        case .unhidden: isHidden = false
        case .erased: isErased = true
        }
    }

    mutating func apply(_ owned: OwnedDetails) {
        owner = owned.owner
        apply(owned.details)
    }

    private mutating func apply(_ recorded: RecordedDetails) {
        switch recorded.details {
        case .present(let details): self.details = details
        case .erased: isErased = true
        }
    }
}

extension EventRow {
    /// In the order in which ``Event/init(_:)`` reads them.
    private static let event: [RowLayout<EventRow>.Column] = [
        .init("id") { $0.id.rawValue },
        .init("owner_id") { $0.owner?.rawValue },
        .init("version") { $0.version },
        .init("name") { $0.details?.name },
        .init("address") { $0.details?.address },
        .init("lat") { $0.details?.coordinates.lat },
        .init("lon") { $0.details?.coordinates.lon },
        .init("started_at") { $0.details?.startedAt },
        .init("ended_at") { $0.details?.endedAt },
        .init("is_cancelled") { $0.isCancelled ?? false },
        .init("is_hidden") { $0.isHidden ?? false },
        .init("revised_at") { $0.revisedAt },
    ]
    private static let texts: [RowLayout<EventRow>.Column] = EventText.allCases.map { name in
        .init(name.rawValue) { $0.details?.texts[name] }
    }

    static let layout = RowLayout(table: "events", event + texts)
    static let details = layout.without("owner_id").without("is_cancelled").without("is_hidden")
    static let cancellation = flag("is_cancelled") { $0.isCancelled }
    static let hiding = flag("is_hidden") { $0.isHidden }

    private static func flag(_ name: String, _ value: @escaping @Sendable (EventRow) -> Bool?) -> RowLayout<EventRow> {
        RowLayout(
            table: "events",
            [
                .init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init("revised_at") { $0.revisedAt },
                .init(name, value),
            ])
    }
}

extension EventRow {
    /// The columns that ``Event/init(_:)`` reads.
    static let columns = layout.names

    /// Copies all events of the read model, cancelled and hidden ones too. ``Event/init(_:)`` reads a row.
    static func copyAll(
        _ connection: LeasedConnection, _ body: @escaping @Sendable (CopiedRows) throws -> Void
    ) async throws {
        try await connection.copyRows(
            of: "events", in: EventsProjection.schema, columns: (event + texts).map(\.name), atOnce: 1_000, body)
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
                endedAt: try columns.next(), texts: [:]),
            isCancelled: try columns.next(), isHidden: try columns.next(), revisedAt: try columns.next())
        for name in EventText.allCases {
            if let text: String = try columns.next() { details.texts[name] = text }
        }
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

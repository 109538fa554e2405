public import Postgres

/// Keeps one read model in step with the log. The same code runs in the append's transaction, in a rebuild and in a verification.
///
/// ```swift
/// struct LoansProjection: Projection {
///     static let name = "loans"
///     static let version: Int32 = 1
///     static let personalColumns: Set<String> = []
///
///     static let tables = "CREATE TABLE loans (book text PRIMARY KEY, reader bigint);"
///     static let indexes = "CREATE INDEX ON loans (reader);"
///
///     func fold(_ envelopes: [EventEnvelope<BookEvent>]) -> [String: Int64?] {
///         envelopes.reduce(into: [:]) { readers, envelope in
///             switch envelope.event {
///             case .lent(let reader): readers.updateValue(reader, forKey: envelope.stream.key)
///             case .returned: readers.updateValue(nil, forKey: envelope.stream.key)
///             }
///         }
///     }
///
///     func writes(for readers: [String: Int64?], in schema: String) -> [Write] {
///         let rows = readers.sorted { $0.key < $1.key }
///         return [
///             .run(
///                 """
///                 INSERT INTO \(identifier: schema).loans SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map(\.value)))
///                 ON CONFLICT (book) DO UPDATE SET reader = excluded.reader
///                 """)
///         ]
///     }
/// }
/// ```
///
/// A new row that is an ``Insertion`` is made of the domain events of one stream. A statement may read rows of other streams too, as
/// earlier statements left them: a rebuild keeps their order.
public protocol Projection: Sendable {
    associatedtype Event: DomainEvent
    /// Row changes, computed from domain events alone.
    associatedtype Changes: Sendable

    /// The read model's name, which belongs to one module.
    static var name: String { get }

    /// Raise the version whenever the tables or the fold change. Another version is another read model, which stands beside this
    /// one in its own schema.
    static var version: Int32 { get }

    /// The columns with personal data; empty if no column has any. Commands show them only on request. The protocol has no default,
    /// so every projection must name them.
    static var personalColumns: Set<String> { get }

    /// The statements that create the tables, with the keys that the writes need. They name no schema: PostgreSQL runs them in one that is
    /// empty, with the rights of the log's owner.
    static var tables: String { get }

    /// The statements that create all other keys and indexes, after the rows are loaded. They name no schema, either.
    static var indexes: String { get }

    /// Computes the changes of rows from domain events, which come in the order of the log. The function is pure.
    func fold(_ envelopes: [EventEnvelope<Event>]) -> Changes

    /// Writes the changes in bulk; empty if there are no changes.
    func writes(for changes: Changes, in schema: String) -> [Write]

    /// Folds the recorded events of this projection's categories and writes them. The default suits every projection.
    func writes(folding envelopes: [EventEnvelope<any DomainEvent>], in schema: String) -> [Write]
}

/// One step of writing a batch of changes.
public enum Write: Sendable {
    /// New rows. They do not depend on other writes of the batch.
    case insert(Insertion)
    case run(SQL)

    package var statement: SQL {
        switch self {
        case .insert(let insertion): insertion.statement
        case .run(let statement): statement
        }
    }
}

extension [Write] {
    /// The insertion of the rows; nothing for no rows.
    public static func inserting<Row>(_ rows: [Row], _ layout: RowLayout<Row>, in schema: String) -> [Write] {
        rows.isEmpty ? [] : [.insert(layout.insertion(of: rows, in: schema))]
    }

    /// The update of the rows by `id`; nothing for no rows.
    public static func updating<Row>(_ rows: [Row], _ layout: RowLayout<Row>, in schema: String) -> [Write] {
        rows.isEmpty ? [] : [.run(layout.update(rows, by: "id", in: schema))]
    }
}

extension Projection {
    /// The schema of the tables that this version reads and writes.
    public static var schema: String { "\(name)_v\(version)" }

    /// The category of the streams that the projection folds.
    var category: String { Event.category }

    /// The stored names of the domain events that end such a stream.
    var erasures: [String] { Event.storedTypes.map(\.name).filter(StoredType.isErasure) }

    @inlinable  // so that it is specialised for each projection: the writer asks it of every batch
    public func writes(folding envelopes: [EventEnvelope<any DomainEvent>], in schema: String) -> [Write] {
        let own = envelopes.compactMap { $0.of(Event.self) }
        return own.isEmpty ? [] : writes(for: fold(own), in: schema)
    }

    /// Does the same for recorded events, which must be of this projection's category.
    /// - Throws: ``FormatError`` with the position, if one of them cannot be read.
    func writes(decoding recorded: [RecordedEvent], in schema: String) throws -> [Write] {
        guard !recorded.isEmpty else { return [] }
        return writes(for: fold(try recorded.map { try $0.decoded() }), in: schema)
    }
}

public import Postgres

/// Keeps one read model in step with the log. Written once; run in the append's transaction, in a rebuild and in a verification.
///
/// Every row is made of the domain events of one stream.
public protocol Projection: Sendable {
    associatedtype Event: DomainEvent
    /// Row changes, computed from domain events alone.
    associatedtype Changes: Sendable

    /// The read model's name; the module's own.
    static var name: String { get }

    /// To be raised whenever the tables or the fold change: another version is another read model, which stands beside this one
    /// in a schema of its own.
    static var version: Int32 { get }

    /// The columns with personal data. Commands show them only on request.
    static var personalColumns: Set<String> { get }

    /// The statements that create the tables in an empty schema, with the keys that the writes need.
    static func tables(in schema: String) -> String

    /// The statements that create all other keys and indexes, when the rows are there.
    static func indexes(in schema: String) -> String

    /// What these do to the rows. Pure; they come in the order of the log.
    func fold(_ envelopes: [EventEnvelope<Event>]) -> Changes

    /// Writes the changes in bulk; empty if there are no changes.
    func writes(for changes: Changes, in schema: String) -> [Write]

    /// Folds the recorded events of this projection's categories and writes them. The default suits every projection.
    func writes(for envelopes: [EventEnvelope<any DomainEvent>], in schema: String) -> [Write]
}

/// One step of writing a batch of changes.
public enum Write: Sendable {
    /// Rows that are not there yet. They do not depend on other writes of the batch.
    case insert(Insertion)
    case run(SQL)

    package var statement: SQL {
        switch self {
        case .insert(let insertion): insertion.statement
        case .run(let statement): statement
        }
    }
}

extension Projection {
    /// Where the tables live that this version reads and writes.
    public static var schema: String { "\(name)_v\(version)" }

    public static var personalColumns: Set<String> { [] }

    /// Of the streams that it folds.
    var category: String { Event.category }

    @inlinable  // so that it is specialised for each projection: the writer asks it of every batch
    public func writes(for envelopes: [EventEnvelope<any DomainEvent>], in schema: String) -> [Write] {
        let own = envelopes.compactMap { $0.of(Event.self) }
        return own.isEmpty ? [] : writes(for: fold(own), in: schema)
    }

    /// The same for events read from the log, which must be of this projection's category.
    /// - Throws: ``FormatError`` with the position, where one of them cannot be read.
    func writes(for recorded: [RecordedEvent], in schema: String) throws -> [Write] {
        guard !recorded.isEmpty else { return [] }
        return writes(for: fold(try recorded.map { try $0.decoded() }), in: schema)
    }
}

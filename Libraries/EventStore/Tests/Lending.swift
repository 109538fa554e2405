import Encoding
import EventStore
import Postgres

/// What happened to a book. The names of types and fields are stored for ever.
enum BookEvent: DomainEvent {
    /// The number of a reader is a fact. A reader's name would be personal.
    case lent(reader: Int64)
    case returned

    static let category = "book"
    static let storedTypes = [StoredType("BookLent"), StoredType("BookReturned")]
    static let personal = PersonalMembers.none

    init(type: String, content: EventContent) throws {
        switch type {
        case "BookLent": self = .lent(reader: try content.facts.stored("reader", \.storedID))
        default: self = .returned
        }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .lent(let reader): ("BookLent", ["reader": JSON(reader)])
        case .returned: ("BookReturned", [:])
        }
    }
}

/// The books and who has them. The rows change in the transaction that appends the domain events.
struct LoansProjection: Projection {
    static let name = "loans"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    static let tables = "CREATE TABLE loans (book text PRIMARY KEY, reader bigint);"
    static let indexes = "CREATE INDEX ON loans (reader);"

    func fold(_ envelopes: [EventEnvelope<BookEvent>]) -> [String: Int64?] {
        envelopes.reduce(into: [:]) { readers, envelope in
            switch envelope.event {
            case .lent(let reader): readers.updateValue(reader, forKey: envelope.stream.key)
            case .returned: readers.updateValue(nil, forKey: envelope.stream.key)
            }
        }
    }

    func writes(for readers: [String: Int64?], in schema: String) -> [Write] {
        let rows = readers.sorted { $0.key < $1.key }
        return [
            .run(
                """
                INSERT INTO \(identifier: schema).loans SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map(\.value)))
                ON CONFLICT (book) DO UPDATE SET reader = excluded.reader
                """)
        ]
    }
}

struct Lending: Sendable {
    let log: EventLog
    let database: PostgresClient
    let dependencies = Dependencies.system

    /// - Returns: whether the reader got the book. The log decides if two readers ask at once
    func lend(_ book: String, to reader: Int64) async throws -> Bool {
        let stream = StreamName(category: BookEvent.category, key: book)
        let history = try await LogReader(client: database).read(stream: stream)
        guard history.last?.envelope.event.type != "BookLent" else { return false }
        let result = try await log.append(
            AppendRequest(
                id: dependencies.newDomainEventID,
                streams: [StreamAppend([BookEvent.lent(reader: reader)], to: stream, after: Int32(history.count))],
                recordedAt: dependencies.now(), metadata: Metadata(requestID: "desk-1", actor: nil, traceID: nil)))
        switch result {
        case .appended, .repeated: return true
        case .conflict, .failedCondition, .keyReused: return false
        }
    }

    func books(of reader: Int64) async throws -> [String] {
        let loans: SQL = "\(identifier: LoansProjection.schema).loans"
        return try await database.query("SELECT book FROM \(loans) WHERE reader = \(reader) ORDER BY book").decode(String.self)
    }
}

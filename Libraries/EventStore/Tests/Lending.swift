import Encoding
import EventStore
import Postgres

/// What happened to a book. The names of types and fields are stored for ever.
enum BookEvent: DomainEvent {
    case lent(reader: Personal<String>)
    case returned

    static let category = "book"
    static let storedTypes = [StoredType("BookLent"), StoredType("BookReturned")]
    static let personalMembers: Set = ["reader"]

    init(type: String, content: EventContent) throws {
        switch type {
        case "BookLent": self = .lent(reader: try content.readPersonal { try $0.stored("reader", \.storedString) })
        default: self = .returned
        }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .lent(.present(let reader)): ("BookLent", ["reader": .string(reader)])
        case .lent(.erased): ("BookLent", [:])
        case .returned: ("BookReturned", [:])
        }
    }
}

/// The books and who has them. The rows change in the transaction that appends the domain events.
struct LoansProjection: Projection {
    static let name = "loans"
    static let version: Int32 = 1
    static let personalColumns: Set = ["reader"]

    static func tables(in schema: String) -> String { "CREATE TABLE \(schema).loans (book text PRIMARY KEY, reader text);" }
    static func indexes(in schema: String) -> String { "CREATE INDEX ON \(schema).loans (reader);" }

    func fold(_ envelopes: [EventEnvelope<BookEvent>]) -> [String: String?] {
        envelopes.reduce(into: [:]) { readers, envelope in
            switch envelope.event {
            case .lent(.present(let reader)): readers.updateValue(reader, forKey: envelope.stream.key)
            case .lent(.erased), .returned: readers.updateValue(nil, forKey: envelope.stream.key)
            }
        }
    }

    func writes(for readers: [String: String?], in schema: String) -> [Write] {
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
    func lend(_ book: String, to reader: String) async throws -> Bool {
        let stream = StreamName(category: BookEvent.category, key: book)
        let history = try await LogReader(client: database).read(stream: stream)
        guard history.last?.envelope.event.type != "BookLent" else { return false }
        let result = try await log.append(
            AppendRequest(
                id: dependencies.newDomainEventID,
                streams: [StreamAppend([BookEvent.lent(reader: .present(reader))], to: stream, after: Int32(history.count))],
                recordedAt: dependencies.now(), metadata: Metadata(requestID: "desk-1", actor: nil, traceID: nil)))
        switch result {
        case .appended, .repeated: return true
        case .conflict, .failedCondition, .keyReused: return false
        }
    }

    func books(of reader: String) async throws -> [String] {
        let loans: SQL = "\(identifier: LoansProjection.schema).loans"
        return try await database.query("SELECT book FROM \(loans) WHERE reader = \(reader) ORDER BY book").decode(String.self)
    }
}

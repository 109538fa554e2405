public import Encoding
public import Foundation
internal import Postgres

/// The name of the recorded events of one thing: `event-12`, `attendance-12-1`.
public struct StreamName: Sendable, Hashable, CustomStringConvertible {
    public var category: String
    /// What stands behind the first dash.
    public var key: String

    public init(category: String, key: String) {
        precondition(!category.utf8.contains(UInt8(ascii: "-")), "a category has no dash")
        self.category = category
        self.key = key
    }

    public init(_ text: String) {
        if let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) {
            self.init(category: String(text[..<dash]), key: String(text[text.utf8.index(after: dash)...]))
        } else {
            self.init(category: text, key: "")
        }
    }

    public var description: String { "\(category)-\(key)" }

    /// The key as the number that it is, from 1; nil for anything else, and for digits behind a sign or a zero, which would give one
    /// thing two streams.
    public var keyAsID: Int64? {
        guard let first = key.utf8.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) else { return nil }
        return Int64(key)
    }
}

/// The origin of a domain event. It is stored beside the domain event, and only tools read it.
public struct Metadata: Sendable, Hashable {
    public struct Values: Sendable, Hashable {
        public var requestID: String
        /// The id of the user who asked for it. Other persons, such as accounts, would get a member of their own: this one means a user.
        public var actor: Int64?
        /// The W3C trace id: 32 hexadecimal digits.
        public var traceID: String?
    }

    /// JSON, the exact bytes that are written, or were.
    public let utf8: [UInt8]

    public init(requestID: String, actor: Int64?, traceID: String?) {
        let json: JSON = [
            "request_id": .string(requestID), "actor": actor.map { JSON($0) } ?? .null, "trace_id": JSON(traceID),
        ]
        utf8 = json.utf8
    }

    init(stored utf8: [UInt8]) { self.utf8 = utf8 }

    /// - Throws: ``FormatError``
    public func values() throws -> Values {
        let json: JSON
        do { json = try JSON(utf8: utf8) } catch { throw FormatError("metadata: \(error)") }
        let values = Values(
            requestID: try json.stored("request_id") { $0.storedString },
            actor: try json.stored("actor") { $0.storedOptional { $0.storedID } },
            traceID: try json.stored("trace_id") { $0.storedOptional { $0.storedString } }
        )
        // PostgreSQL's text cannot hold it, and the index `log.recorded_events_search` reads both as text.
        guard !values.requestID.utf8.contains(0), values.traceID?.utf8.contains(0) != true else {
            throw FormatError("metadata: request_id or trace_id contains U+0000")
        }
        return values
    }
}

/// A domain event in its place in its stream: what a projection folds. Its position is not known before its commit.
public struct EventEnvelope<Event: Sendable>: Sendable {
    public var id: UUID
    public var stream: StreamName
    /// From 1.
    public var version: Int32
    public var recordedAt: Timestamp
    public var metadata: Metadata
    public var event: Event

    public init(id: UUID, stream: StreamName, version: Int32, recordedAt: Timestamp, metadata: Metadata, event: Event) {
        self.id = id
        self.stream = stream
        self.version = version
        self.recordedAt = recordedAt
        self.metadata = metadata
        self.event = event
    }

    /// The same place, with the event in another form.
    @inlinable  // so that it is specialised in the modules: the writer asks it of every event
    func with<Other>(_ event: Other) -> EventEnvelope<Other> {
        EventEnvelope<Other>(id: id, stream: stream, version: version, recordedAt: recordedAt, metadata: metadata, event: event)
    }
}

extension EventEnvelope where Event == any DomainEvent {
    /// nil where it is a domain event of another module.
    @inlinable  // as above
    public func of<Other: DomainEvent>(_: Other.Type) -> EventEnvelope<Other>? { (event as? Other).map { with($0) } }
}

/// A domain event as the log keeps it, undecoded, in its place in its stream.
public struct StoredEvent: Sendable, Hashable {
    public var type: String
    public var format: Int16
    /// JSON, the exact bytes that were written.
    public var facts: [UInt8]
    /// JSON, the exact bytes that were written; `nil` if there never were personal members.
    public var personal: Personal<[UInt8]>?

    fileprivate static let noPersonalMembers = Array("{}".utf8)

    package init(type: String, format: Int16, facts: [UInt8], personal: Personal<[UInt8]>? = nil) {
        self.type = type
        self.format = format
        self.facts = facts
        self.personal = personal
    }
}

/// An envelope at its position in the log.
public struct RecordedEvent: Sendable {
    /// From 1, contiguous.
    public var position: Int64
    public var envelope: EventEnvelope<StoredEvent>
}

extension RecordedEvent {
    private static let columnNames = [
        "position", "id", "stream", "version", "type", "format", "recorded_at", "data", "metadata", "personal",
    ]

    /// Of ``LogReader/columns``.
    /// - Throws: ``FormatError`` with the position, where the row holds what no recorded event can, such as a time of the year 10000
    init(_ row: Row) throws {
        let position: Int64 = try row.value(0)
        self.position = position
        do throws(PostgresError) {
            envelope = EventEnvelope(
                id: try row.value(1),
                stream: StreamName(try row.value(2) as String),
                version: try row.value(3),
                recordedAt: try row.value(6),
                metadata: Metadata(stored: try row.utf8(8)),
                event: StoredEvent(
                    type: try row.value(4), format: try row.value(5), facts: try row.utf8(7), personal: try row.personal(9))
            )
        } catch .decoding(let column, let cause) {
            throw FormatError("position \(position): \(Self.columnNames[column]) \(cause)")
        }
    }
}

extension RecordedEvent {
    /// - Throws: ``FormatError`` with the position, where it cannot be read.
    public func decoded<Event: DomainEvent>(as _: Event.Type = Event.self) throws -> EventEnvelope<Event> {
        let stored = envelope.event
        do {
            return envelope.with(try Event.decode(stored, in: envelope.stream, version: envelope.version))
        } catch let error as FormatError {
            throw FormatError("position \(position): \(error)")
        }
    }
}

/// Here and not in the module of rows, so that the compiler makes one for each type: a replay spends its time in them.
extension Row {
    fileprivate func value<Value: PostgresDecodable>(_ column: Int) throws(PostgresError) -> Value {
        do { return try Value(cell(column)) } catch { throw .decoding(column: column, cause: error) }
    }

    fileprivate func utf8(_ column: Int) throws(PostgresError) -> [UInt8] {
        do { return try cell(column).utf8() } catch { throw .decoding(column: column, cause: error) }
    }

    /// Reads the personal members: NULL after their erasure, an empty object if there never were any.
    fileprivate func personal(_ column: Int) throws(PostgresError) -> Personal<[UInt8]>? {
        if cell(column).isNull { return .erased }
        let members = try utf8(column)
        return members == StoredEvent.noPersonalMembers ? nil : .present(members)
    }
}

extension JSON {
    /// Where it is none after all, the text as it stands.
    public init(readable utf8: [UInt8]) {
        self = (try? JSON(utf8: utf8)) ?? .string(String(decoding: utf8, as: UTF8.self))
    }
}

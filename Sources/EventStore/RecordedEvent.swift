public import Foundation
public import Notation
internal import Postgres

/// The name of the recorded events of one thing: `event-12`, `attendance-12-1`.
public struct StreamName: Sendable, Hashable, CustomStringConvertible {
    public var category: String
    /// What stands behind the first dash.
    public var key: String

    public init(category: String, key: String) {
        precondition(!category.contains("-"), "a category has no dash")
        self.category = category
        self.key = key
    }

    public init(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(category: parts.first.map(String.init) ?? "", key: parts.count > 1 ? String(parts[1]) : "")
    }

    public var description: String { "\(category)-\(key)" }
}

/// What is kept beside a domain event about how it came about.
public struct Metadata: Sendable, Hashable {
    public var requestID: String
    /// The id of the user who asked for it.
    public var actor: Int64?
    /// The W3C trace id: 32 hexadecimal digits.
    public var traceID: String?

    public init(requestID: String, actor: Int64?, traceID: String?) {
        self.requestID = requestID
        self.actor = actor
        self.traceID = traceID
    }

    var stored: JSON {
        ["request_id": .string(requestID), "actor": actor.map { JSON($0) } ?? .null, "trace_id": JSON(traceID)]
    }

    init(stored json: JSON) throws {
        requestID = try json.stored("request_id", \.storedString)
        actor = try json.stored("actor") { $0.storedOptional(\.storedInteger) }
        traceID = try json.stored("trace_id") { $0.storedOptional(\.storedString) }
    }
}

/// A domain event in its place in its stream: what a projection folds. Its position is not known before its commit.
public struct Occurrence<Event: Sendable>: Sendable {
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

    func map<Other>(_ transform: (Event) throws -> Other?) rethrows -> Occurrence<Other>? {
        try transform(event).map {
            Occurrence<Other>(id: id, stream: stream, version: version, recordedAt: recordedAt, metadata: metadata, event: $0)
        }
    }
}

/// A domain event as the log keeps it, undecoded, in its place in its stream.
public struct StoredEvent: Sendable, Hashable {
    public var type: String
    public var format: Int16
    /// JSON, the exact bytes that were written.
    public var data: [UInt8]
}

/// An occurrence at its position in the log.
public struct RecordedEvent: Sendable {
    /// From 1, contiguous.
    public var position: Int64
    public var occurrence: Occurrence<StoredEvent>

    init(_ row: Row) throws {
        let (position, id, stream, version, type, format, recordedAt, data, metadata) = try row.decode(
            (Int64, UUID, String, Int32, String, Int16, Timestamp, String, String).self
        )
        self.position = position
        occurrence = Occurrence(
            id: id,
            stream: StreamName(stream),
            version: version,
            recordedAt: recordedAt,
            metadata: try Metadata(stored: JSON(utf8: metadata.utf8)),
            event: StoredEvent(type: type, format: format, data: Array(data.utf8))
        )
    }
}

extension RecordedEvent {
    /// For people and tools to read; the data is as it was stored.
    public var json: JSON {
        let data = (try? JSON(utf8: occurrence.event.data)) ?? .string(String(decoding: occurrence.event.data, as: UTF8.self))
        return [
            "position": JSON(position), "id": .string(occurrence.id.uuidString.lowercased()),
            "stream": .string(occurrence.stream.description), "version": JSON(occurrence.version),
            "type": .string(occurrence.event.type), "format": JSON(occurrence.event.format),
            "recorded_at": .string(occurrence.recordedAt.description), "data": data, "metadata": occurrence.metadata.stored,
        ]
    }
}

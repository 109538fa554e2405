public import Encoding
public import Foundation

/// Domain events that are recorded together or not at all, each in its stream, under conditions.
///
/// An append without domain events records a command that changes nothing: see ``StreamAppend/events``.
public struct AppendRequest: Sendable {
    /// Unique in the log. If the log has this id already, nothing is recorded, and the caller gets the first result. The last recorded
    /// event has this id. The ids of the others derive from it.
    public var id: UUID
    /// The hash of a request that its caller may repeat. The same id with another hash is refused.
    public var requestHash: RequestHash?
    /// The stream of the person who sent the request; needed with a hash. Its erasure ends the record of the request.
    public var owner: StreamName?
    /// Each stream occurs once. Of one without domain events the append only requires the version.
    public let streams: [StreamAppend]
    /// What must hold for other streams.
    public var conditions: [AppendCondition]
    public var recordedAt: Timestamp
    public var metadata: Metadata
    /// The domain events as they are stored. The caller's task encodes them, and not the one writer.
    let stored: [Stored]

    struct Stored: Sendable {
        var type: String
        var format: Int16
        var facts: String
        var personal: String?

        init(_ event: some DomainEvent) {
            let domainEvent = Swift.type(of: event)
            let (type, data) = event.stored
            let content = EventContent(all: data, personalMembers: domainEvent.personal.names)
            self.type = type
            facts = content.facts.text
            if case .present(let members) = content.personal { personal = members.text }
            format = domainEvent.writtenFormat(of: type)
        }

        var bytes: Int { facts.utf8.count + (personal?.utf8.count ?? 0) }
    }

    /// - Parameter streams: one or more. If there are several, the last one gets at least one domain event
    public init(
        id: UUID, requestHash: RequestHash? = nil, owner: StreamName? = nil, streams: [StreamAppend],
        conditions: [AppendCondition] = [], recordedAt: Timestamp, metadata: Metadata
    ) {
        precondition(requestHash == nil || owner != nil, "a request under a key has an owner")
        precondition(!streams.isEmpty, "an append names a stream")
        precondition(
            streams.count == 1
                || streams.last?.events.isEmpty == false && Set(streams.map(\.stream)).count == streams.count,
            "each of several streams occurs once, and the last one gets a domain event")
        self.id = id
        self.requestHash = requestHash
        self.owner = owner
        self.streams = streams
        self.conditions = conditions
        self.recordedAt = recordedAt
        self.metadata = metadata
        stored = streams.flatMap { $0.events.map { Stored($0) } }
    }

    /// About the size of all parameters of the statements that record it: the log and the read models get the data.
    var bytes: Int { stored.reduce(Self.otherBytes) { $0 + 2 * $1.bytes + Self.otherBytes } }
    private static let otherBytes = 512

    /// The envelopes of the recorded events, if the append is accepted.
    var envelopes: [EventEnvelope<any DomainEvent>] {
        var envelopes: [EventEnvelope<any DomainEvent>] = []
        for part in streams {
            for (version, event) in zip((part.expectedVersion + 1)..., part.events) {
                let isLast = envelopes.count + 1 == stored.count
                envelopes.append(
                    EventEnvelope(
                        id: isLast ? id : UUID(derivedFrom: "event \(envelopes.count + 1) of \(id)"), stream: part.stream,
                        version: version,
                        recordedAt: recordedAt, metadata: metadata, event: event))
            }
        }
        return envelopes
    }

    /// The stream and the version that answer the append.
    var last: StreamAppend { streams[streams.count - 1] }

    /// The result of the append, if its last recorded event has a position.
    func place(at position: Int64) -> RecordedPlace {
        RecordedPlace(position: position, stream: last.stream, version: last.version)
    }
}

/// Domain events for one stream, under the condition that it has a certain version.
public struct StreamAppend: Sendable {
    public var stream: StreamName
    /// The version that the stream must have; 0 means that the stream must not exist.
    public var expectedVersion: Int32
    /// In order. Empty for a command that changes nothing, because the stream is as the command wants it. Such a command is stored under
    /// its key too, so that a late repetition cannot undo the changes of later commands.
    public var events: [any DomainEvent]

    public init(_ events: [any DomainEvent], to stream: StreamName, after expectedVersion: Int32) {
        self.stream = stream
        self.expectedVersion = expectedVersion
        self.events = events
    }

    /// The version after the append.
    var version: Int32 { expectedVersion + Int32(events.count) }
}

extension [AppendRequest] {
    /// Returns the appends of the next transaction, where each can be decided without the others, and the appends that depend on one
    /// before them: they have its id, or they change a stream that it changes, or rely on such a stream.
    /// - Parameters:
    ///   - indices: of the appends that are left
    ///   - limit: the maximum number of appends in the transaction
    func divided(_ indices: [Int], limit: Int) -> (first: [Int], dependent: [Int]) {
        var (first, dependent): ([Int], [Int]) = ([], [])
        var ids = Set<UUID>(minimumCapacity: indices.count)
        var changed = Set<StreamName>(minimumCapacity: indices.count)
        for index in indices {
            guard first.count < limit else { break }
            let append = self[index]
            let streams = append.streams.map(\.stream) + append.conditions.map(\.stream)
            guard !ids.contains(append.id), !streams.contains(where: changed.contains) else {
                dependent.append(index)
                continue
            }
            first.append(index)
            ids.insert(append.id)
            for part in append.streams where !part.events.isEmpty { changed.insert(part.stream) }
        }
        return (first, dependent)
    }

    /// The conditions of the batch, each once.
    var conditions: Set<AppendCondition> { Set(flatMap(\.conditions)) }
}

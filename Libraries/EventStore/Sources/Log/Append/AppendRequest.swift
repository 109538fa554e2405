public import Encoding
public import Foundation

/// A domain event to be recorded, under the condition that its stream has a certain version.
public struct AppendRequest: Sendable {
    /// Unique in the log. If the log has this id already, nothing is recorded, and the caller gets the first result.
    public var id: UUID
    /// The hash of a request that its caller may repeat. The same id with another hash is refused.
    public var requestHash: RequestHash?
    public var stream: StreamName
    /// The version that the stream must have; 0 means that the stream must not exist.
    public var expectedVersion: Int32
    /// What must hold for another stream; `nil` if nothing must.
    public var condition: AppendCondition?
    public var recordedAt: Timestamp
    public var metadata: Metadata
    public let event: any DomainEvent
    /// The event as it is stored. The caller's task encodes it, and not the one writer.
    let stored: (type: String, data: String)

    public init(
        id: UUID, requestHash: RequestHash? = nil, stream: StreamName, expectedVersion: Int32, condition: AppendCondition? = nil,
        recordedAt: Timestamp, metadata: Metadata, event: any DomainEvent
    ) {
        self.id = id
        self.requestHash = requestHash
        self.stream = stream
        self.expectedVersion = expectedVersion
        self.condition = condition
        self.recordedAt = recordedAt
        self.metadata = metadata
        self.event = event
        let stored = event.stored
        self.stored = (stored.type, stored.data.text)
    }

    /// About the size of all parameters of the statements that record it: the log and the read models get the data.
    var bytes: Int { 2 * stored.data.utf8.count + Self.otherBytes }
    private static let otherBytes = 512

    /// The envelope of the recorded event, if the append is accepted.
    var envelope: EventEnvelope<any DomainEvent> {
        EventEnvelope(
            id: id, stream: stream, version: expectedVersion + 1, recordedAt: recordedAt, metadata: metadata, event: event
        )
    }
}

/// A stream must end with a certain recorded event while an append is recorded. So the append relies on what its caller knows of the
/// stream, without a query before it.
public struct AppendCondition: Sendable, Hashable {
    public var stream: StreamName
    /// The id of the last recorded event of the stream.
    public var lastID: UUID

    public init(stream: StreamName, lastID: UUID) {
        self.stream = stream
        self.lastID = lastID
    }
}

/// The stream of the append's condition does not end with the required recorded event.
public struct AppendConditionError: Error, Hashable, CustomStringConvertible {
    public var condition: AppendCondition

    public init(condition: AppendCondition) { self.condition = condition }

    public var description: String { "stream \(condition.stream) does not end with the event \(condition.lastID)" }
}

/// A command under a condition ended without an append, so nothing has checked the condition. Its caller must check what the condition
/// says, and carry the command out again without it.
public struct UncheckedConditionError: Error {
    public init() {}
}

/// The place of a recorded event. A repeated append gets the place of the first one.
public struct AppendResult: Sendable, Hashable {
    public var position: Int64
    public var stream: StreamName
    public var version: Int32
    /// Whether the id had been recorded before.
    public var isRepeat: Bool

    public init(position: Int64, stream: StreamName, version: Int32, isRepeat: Bool) {
        self.position = position
        self.stream = stream
        self.version = version
        self.isRepeat = isRepeat
    }
}

/// The stream does not have the expected version, because another writer was faster.
public struct VersionConflictError: Error, Hashable, CustomStringConvertible {
    public var stream: StreamName
    public var expected: Int32
    public var actual: Int32

    public var description: String { "stream \(stream) has version \(actual), not \(expected)" }
}

/// The decision on one append of a batch.
enum AppendDecision: Hashable {
    case accepted
    /// The event is in the log already.
    case repeats(AppendResult)
    /// An earlier append of this batch, at that index, has the same id and is accepted.
    case repeatsInBatch(index: Int)
    case conflicts(VersionConflictError)
    case failsCondition(AppendConditionError)
    /// Its id belongs to another request.
    case reusesKey
}

/// Decides a batch as if its items came one after the other.
/// - Parameters:
///   - recorded: the ids of the batch that are in the log, with their places
///   - records: the ids among them that belong to commands with a key
///   - versions: the versions of the streams that exist
///   - failing: the conditions that do not hold
func decisions(
    on batch: [AppendRequest], recorded: [UUID: AppendResult], records: [UUID: IdempotencyRecord] = [:],
    versions: [StreamName: Int32], failing: Set<AppendCondition> = []
) -> [AppendDecision] {
    var versions = versions
    var changed = Set<StreamName>()
    var accepted: [UUID: Int] = [:]
    return batch.enumerated().map { index, append in
        if let first = records[append.id] {
            return first.requestHash == append.requestHash ? .repeats(first.appended) : .reusesKey
        }
        if let first = recorded[append.id] { return .repeats(first) }
        if let first = accepted[append.id] {
            return batch[first].requestHash == append.requestHash ? .repeatsInBatch(index: first) : .reusesKey
        }
        if let condition = append.condition, failing.contains(condition) || changed.contains(condition.stream) {
            return .failsCondition(AppendConditionError(condition: condition))
        }
        let actual = versions[append.stream] ?? 0
        guard actual == append.expectedVersion else {
            return .conflicts(VersionConflictError(stream: append.stream, expected: append.expectedVersion, actual: actual))
        }
        versions[append.stream] = actual + 1
        changed.insert(append.stream)
        accepted[append.id] = index
        return .accepted
    }
}

extension [AppendRequest] {
    /// Whether no two appends share an id or a stream, and no append changes the stream of a condition, so that each one can be
    /// decided without the others.
    var areIndependent: Bool {
        var ids = Set<UUID>(minimumCapacity: count)
        var streams = Set<StreamName>(minimumCapacity: count)
        return allSatisfy { ids.insert($0.id).inserted && streams.insert($0.stream).inserted }
            && !conditions.contains { streams.contains($0.stream) }
    }

    /// The conditions of the batch, each once.
    var conditions: Set<AppendCondition> { Set(compactMap(\.condition)) }
}

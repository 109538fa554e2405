internal import Foundation

/// What became of an append: all that its caller must handle. A database that is away, a full queue and other failures are errors.
public enum AppendResult: Sendable, Hashable {
    case appended(RecordedPlace)
    /// Nothing was recorded. The log has the append already, or the append has no domain events. The place answers the first append.
    case repeated(RecordedPlace)
    /// Another writer was faster.
    case conflict(VersionConflict)
    /// This condition does not hold.
    case failedCondition(AppendCondition)
    /// The id belongs to another request.
    case keyReused

    /// The place that answers the append; `nil` if it was refused.
    public var place: RecordedPlace? {
        switch self {
        case .appended(let place), .repeated(let place): place
        case .conflict, .failedCondition, .keyReused: nil
        }
    }
}

/// The place of the last recorded event of an append.
public struct RecordedPlace: Sendable, Hashable {
    /// For an append without domain events, the end of the log.
    public var position: Int64
    public var stream: StreamName
    public var version: Int32

    public init(position: Int64, stream: StreamName, version: Int32) {
        self.position = position
        self.stream = stream
        self.version = version
    }
}

/// The stream does not have the expected version.
public struct VersionConflict: Sendable, Hashable, CustomStringConvertible {
    public var stream: StreamName
    public var expected: Int32
    public var actual: Int32

    public var description: String { "stream \(stream) has version \(actual), not \(expected)" }
}

/// The decision on one append of a batch.
enum AppendDecision: Hashable {
    case accepted
    /// An earlier append of this batch, at that index, has the same id and is accepted.
    case repeatsInBatch(index: Int)
    /// Nothing of the append is recorded.
    case ended(AppendResult)
}

/// Decides a batch as if its items came one after the other.
///
/// A repetition must meet its conditions too: a token that died gets no response of its commands. If an earlier attempt to record the
/// batch may have succeeded, a known append may be that attempt's own, which met its conditions.
/// - Parameters:
///   - recorded: the ids of the batch that are in the log, with their places
///   - records: the ids among them that belong to commands with a key
///   - versions: the versions of the streams that exist
///   - failing: the conditions that do not hold
///   - mayBeRecorded: whether an earlier attempt may have recorded the batch
func decisions(
    on batch: [AppendRequest], recorded: [UUID: RecordedPlace], records: [UUID: IdempotencyRecord] = [:],
    versions: [StreamName: Int32], failing: Set<AppendCondition> = [], mayBeRecorded: Bool = false
) -> [AppendDecision] {
    var versions = versions
    var changed = Set<StreamName>()
    // The actors of the accepted appends, if a condition asks for them.
    let asksForActors = batch.conditions.contains { if case .noEvents = $0 { true } else { false } }
    var actors = Set<Int64>()
    func fails(_ condition: AppendCondition) -> Bool {
        guard !failing.contains(condition) else { return true }
        return switch condition {
        case .ends(let stream, _): changed.contains(stream)
        case .noEvents(let actor, _): actors.contains(actor)
        }
    }
    var accepted: [UUID: Int] = [:]
    return batch.enumerated().map { index, append in
        let known = records[append.id].map { $0.result(for: append.requestHash) } ?? recorded[append.id].map { .repeated($0) }
        if mayBeRecorded, let known { return .ended(known) }
        if let failed = append.conditions.first(where: fails) {
            return .ended(.failedCondition(failed))
        }
        if let known { return .ended(known) }
        if let first = accepted[append.id] {
            return batch[first].requestHash == append.requestHash ? .repeatsInBatch(index: first) : .ended(.keyReused)
        }
        for part in append.streams {
            let actual = versions[part.stream] ?? 0
            guard actual == part.expectedVersion else {
                let conflict = VersionConflict(stream: part.stream, expected: part.expectedVersion, actual: actual)
                return .ended(.conflict(conflict))
            }
        }
        for part in append.streams where !part.events.isEmpty {
            versions[part.stream] = part.version
            changed.insert(part.stream)
        }
        if asksForActors, !append.stored.isEmpty, let actor = append.actor { actors.insert(actor) }
        accepted[append.id] = index
        return .accepted
    }
}

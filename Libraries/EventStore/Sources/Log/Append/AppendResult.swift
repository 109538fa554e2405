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
}

/// The stream does not have the expected version.
public struct VersionConflict: Sendable, Hashable, CustomStringConvertible {
    public var stream: StreamName
    public var expected: Int32
    public var actual: Int32

    public var description: String { "stream \(stream) has version \(actual), not \(expected)" }
}

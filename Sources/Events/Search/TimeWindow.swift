public import Encoding
internal import Postgres

/// A window of time, with both ends. It keeps the events that overlap it: an event without an end, or with one before its start, lasts
/// ``EventPlace/openHours``.
public struct TimeWindow: Sendable, Hashable {
    /// `nil` for no beginning.
    public var from: Timestamp?
    /// Not before `from`. `nil` for no end.
    public var to: Timestamp?

    /// Keeps every event unless an end is given.
    public init(from: Timestamp? = nil, to: Timestamp? = nil) {
        self.from = from
        self.to = to
    }

    /// `nil` for a window without ends.
    var milliseconds: ClosedRange<Int64>? {
        guard self != TimeWindow() else { return nil }
        let first = from?.milliseconds ?? .min
        return first...max(first, to?.milliseconds ?? .max)
    }

    /// The window as the end of a WHERE clause.
    var condition: SQL {
        var condition: SQL = ""
        if let from { condition = "\(condition) AND \(Self.end) >= \(from)" }
        if let to { condition = "\(condition) AND started_at <= \(to)" }
        return condition
    }

    /// The same as ``EventPlace/endsAt``.
    private static let end: SQL =
        "CASE WHEN ended_at >= started_at THEN ended_at ELSE started_at + make_interval(hours => \(Int32(EventPlace.openHours))) END"
}

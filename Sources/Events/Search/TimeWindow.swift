public import Encoding
internal import Postgres

/// A window of time, with both ends. It keeps the events that overlap it: an event without an end lasts a moment.
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

    /// The window as the end of a WHERE clause. GREATEST ignores NULL, so that an event without an end, and one that ends before it
    /// begins, lasts a moment.
    var condition: SQL {
        var condition: SQL = ""
        if let from { condition = "\(condition) AND GREATEST(started_at, ended_at) >= \(from)" }
        if let to { condition = "\(condition) AND started_at <= \(to)" }
        return condition
    }
}

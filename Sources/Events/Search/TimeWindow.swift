public import Encoding

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
}

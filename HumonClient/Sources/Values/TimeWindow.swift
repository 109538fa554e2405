public import Foundation

/// The events that overlap a window of time. An event without an end lasts a moment. A date outside of
/// the years 0 to 9999 counts as none.
public struct TimeWindow: Sendable, Hashable {
    /// Events that ended before this moment are left out.
    public var from: Date?
    /// Events that start after this moment are left out. Not before `from`.
    public var to: Date?

    /// Any time.
    public static let always = TimeWindow()

    public init(from: Date? = nil, to: Date? = nil) {
        self.from = from
        self.to = to
    }

    var query: [(name: String, value: String)] {
        [("from", from), ("to", to)].compactMap { name, date in date.map { (name, Timestamp.text(of: $0)) } }
    }
}

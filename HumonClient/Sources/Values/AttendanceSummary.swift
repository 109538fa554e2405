/// The attendances of one event.
public struct AttendanceSummary: Sendable, Hashable, Codable {
    /// Number of users who attend the event.
    public var count: Int
    /// Whether the caller attends it.
    public var attending: Bool

    public init(count: Int, attending: Bool) {
        self.count = count
        self.attending = attending
    }
}

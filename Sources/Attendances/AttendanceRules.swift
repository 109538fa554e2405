internal import Encoding
public import Events
public import Users

/// Attend an event.
public struct AttendEvent: Sendable, Hashable {
    public var event: EventID
    public var by: UserID

    public init(event: EventID, by: UserID) {
        self.event = event
        self.by = by
    }
}

/// Attend an event no more.
public struct LeaveEvent: Sendable, Hashable {
    public var event: EventID
    public var by: UserID

    public init(event: EventID, by: UserID) {
        self.event = event
        self.by = by
    }
}

/// The attendance of one user at one event, as the read model shows it.
struct Attendance: Sendable, Hashable {
    var key: AttendanceKey
    /// The version of its stream; 0 if the user never attended.
    var version: Int32 = 0
    /// The time since which the user attends; `nil` if the user does not.
    var attendedAt: Timestamp?
}

/// Every user may attend every event, the owner too. Coming back is allowed.
/// - Returns: `nil` if the user attends already
func decide(_ command: AttendEvent, on attendance: Attendance) -> AttendanceDomainEvent? {
    guard attendance.attendedAt == nil else { return nil }
    return .added(AttendanceAdded(event: command.event, user: command.by))
}

/// - Returns: `nil` if the user does not attend
func decide(_ command: LeaveEvent, on attendance: Attendance) -> AttendanceDomainEvent? {
    guard attendance.attendedAt != nil else { return nil }
    return .removed(AttendanceRemoved(event: command.event, user: command.by))
}

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

/// Every user may attend every live event, the owner too. Coming back is allowed. The event may be cancelled or hidden before the
/// attendance is recorded.
/// - Parameter event: as the read model shows it; `nil` if there is none
/// - Returns: `nil` if the user attends already
/// - Throws: `EventRejection.notFound`, `.hidden` for the owner, `.cancelled`
func decide(
    _ command: AttendEvent, on attendance: Attendance, of event: Event?
) throws(EventRejection) -> AttendanceDomainEvent? {
    try event.live(for: command.by)
    guard attendance.attendedAt == nil else { return nil }
    return .added(AttendanceAdded(event: command.event, user: command.by))
}

/// A user may leave a cancelled or hidden event too.
/// - Parameter event: as the read model shows it; `nil` if there is none
/// - Returns: `nil` if the user does not attend
/// - Throws: `EventRejection.notFound` and `.hidden` if the user does not attend and may not know of the event
func decide(
    _ command: LeaveEvent, on attendance: Attendance, of event: Event?
) throws(EventRejection) -> AttendanceDomainEvent? {
    guard attendance.attendedAt != nil else {
        try event.visible(to: command.by)
        return nil
    }
    return .removed(AttendanceRemoved(event: command.event, user: command.by))
}

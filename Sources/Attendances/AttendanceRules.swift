internal import Encoding
internal import Events
internal import Users

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
func decideAttending(_ attendance: Attendance, of event: Event?) throws(EventRejection) -> AttendanceDomainEvent? {
    try event.live(for: attendance.key.user)
    return attendance.attendedAt == nil ? .added(attendance.key) : nil
}

/// A user may leave a cancelled or hidden event too.
/// - Parameter event: as the read model shows it; `nil` if there is none
/// - Returns: `nil` if the user does not attend
/// - Throws: `EventRejection.notFound` and `.hidden` if the user does not attend and may not know of the event
func decideLeaving(_ attendance: Attendance, of event: Event?) throws(EventRejection) -> AttendanceDomainEvent? {
    guard attendance.attendedAt == nil else { return .removed(attendance.key) }
    try event.visible(to: attendance.key.user)
    return nil
}

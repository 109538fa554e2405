public import EventStore
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

/// Why an attendance is refused.
public enum AttendanceRejection: Rejection, Hashable {
    case unknownEvent

    public var kind: RejectionKind { .notFound }
}

/// Every user may attend every event, the owner too.
/// - Returns: `nil` if the user attends already
/// - Throws: ``AttendanceRejection``
func decide(
    _ command: AttendEvent, eventExists: Bool, attendsAlready: Bool
) throws(AttendanceRejection) -> AttendanceAdded? {
    guard eventExists else { throw .unknownEvent }
    return attendsAlready ? nil : AttendanceAdded(event: command.event, user: command.by)
}

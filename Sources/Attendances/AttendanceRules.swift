public import Events
public import Users

/// Say that one will be there.
public struct AttendEvent: Sendable, Hashable {
    public var event: EventID
    public var by: UserID

    public init(event: EventID, by: UserID) {
        self.event = event
        self.by = by
    }
}

/// Why an attendance is refused.
public enum AttendanceRejection: Error, Sendable, Hashable {
    case unknownEvent
    /// The command's key was used for another request.
    case keyReused
}

/// Anyone known may attend any event, owners included. Doing so again changes nothing: nil.
func decide(
    _ command: AttendEvent, eventExists: Bool, attendsAlready: Bool
) throws(AttendanceRejection) -> AttendanceAdded? {
    guard eventExists else { throw .unknownEvent }
    return attendsAlready ? nil : AttendanceAdded(event: command.event, user: command.by)
}

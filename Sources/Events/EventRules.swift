public import EventStore
internal import Users

/// Why a command on events is refused.
public enum EventRejection: Rejection, Hashable {
    case invalid(errors: [FieldError])
    case notFound
    /// The caller is not the owner.
    case forbidden
    /// The event has another version than the command expects.
    case changedMeanwhile
    /// The owner cancelled the event.
    case cancelled
    /// An operator hides the event. Only its owner learns this; to others the event is not found.
    case hidden
    /// The user has as many live events as one may have.
    case tooManyEvents(maximum: Int)

    public var kind: RejectionKind {
        switch self {
        case .invalid(let errors): .invalid(errors: errors)
        case .notFound: .notFound
        case .forbidden: .forbidden
        case .changedMeanwhile: .preconditionFailed
        case .cancelled, .hidden: .gone
        case .tooManyEvents(let maximum):
            .invalid(errors: [FieldError("events", .tooMany, "are too many (maximum is \(maximum))", at: "")])
        }
    }

    public var code: String? {
        switch self {
        case .cancelled: "event_cancelled"
        case .hidden: "event_hidden"
        case .invalid, .notFound, .forbidden, .changedMeanwhile, .tooManyEvents: nil
        }
    }

    public var message: String? {
        switch self {
        case .cancelled: "Event Cancelled"
        case .hidden: "Event Hidden"
        case .invalid, .notFound, .forbidden, .changedMeanwhile, .tooManyEvents: nil
        }
    }
}

/// Every user may create events, and have as many live events as the quota says.
/// - Parameters:
///   - liveEvents: the number of the user's live events; `nil` if this node does not know it
///   - quota: 0 for none
/// - Throws: ``EventRejection/tooManyEvents(maximum:)``
func decideCreation(
    of details: EventDetails, by owner: UserID, liveEvents: Int? = nil, quota: Int = 0
) throws(EventRejection) -> EventDomainEvent {
    if let liveEvents, quota > 0, liveEvents >= quota { throw .tooManyEvents(maximum: quota) }
    return .created(OwnedDetails(details, of: owner))
}

/// Only the owner may change an event, and only in a version that the owner expects. A change to equal details is recorded too.
/// - Parameter mark: returns the mark of an event's content
/// - Returns: the new details; `nil` for a patch without fields
/// - Throws: ``EventRejection``
func decide(
    _ patch: EventPatch, of event: Event?, by caller: UserID, if condition: VersionCondition, mark: (Event) -> UInt32
) throws(EventRejection) -> EventDetails? {
    let event = try event.owned(by: caller)
    guard !event.isCancelled else { throw .cancelled }
    guard condition.holds(for: event.version(mark)) else { throw .changedMeanwhile }
    return patch == .empty ? nil : patch.applied(to: event.details)
}

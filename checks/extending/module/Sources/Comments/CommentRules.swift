internal import Encoding
public import EventStore

/// Why a comment is refused.
public enum CommentRejection: Rejection, Hashable {
    case unknownEvent
    case invalid(errors: [FieldError])

    public var kind: RejectionKind {
        switch self {
        case .unknownEvent: .notFound
        case .invalid(let errors): .invalid(errors: errors)
        }
    }
}

/// The longest comment, in Unicode scalars.
let textLimit = 1_000

/// Every user may comment on every event.
/// - Throws: ``CommentRejection``
func decideComment(_ text: String, eventExists: Bool) throws(CommentRejection) -> CommentDomainEvent {
    guard eventExists else { throw .unknownEvent }
    let scalars = text.unicodeScalars
    var errors: [FieldError] = []
    if text.isBlank { errors.append(.blank("text")) }
    if scalars.count > textLimit { errors.append(.tooLong("text", maximum: textLimit, "characters")) }
    if scalars.contains("\0") { errors.append(.nullCharacter("text")) }
    guard errors.isEmpty else { throw .invalid(errors: errors) }
    return .added(text: .present(text))
}

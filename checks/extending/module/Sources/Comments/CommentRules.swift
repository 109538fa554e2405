public import EventStore
public import Events
public import Users

/// Comment on an event.
public struct AddComment: Sendable, Hashable {
    public var event: EventID
    public var author: UserID
    public var text: String

    public init(event: EventID, author: UserID, text: String) {
        self.event = event
        self.author = author
        self.text = text
    }
}

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
func decide(_ command: AddComment, eventExists: Bool) throws(CommentRejection) -> CommentAdded {
    guard eventExists else { throw .unknownEvent }
    let scalars = command.text.unicodeScalars
    var errors: [FieldError] = []
    if scalars.allSatisfy(\.properties.isWhitespace) { errors.append(.blank("text")) }
    if scalars.count > textLimit { errors.append(.tooLong("text", maximum: textLimit, "characters")) }
    if scalars.contains("\0") { errors.append(.nullCharacter("text")) }
    guard errors.isEmpty else { throw .invalid(errors: errors) }
    return CommentAdded(text: .present(command.text))
}

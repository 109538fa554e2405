internal import Encoding
internal import EventStore
internal import Events
internal import Users

/// The domain events of comments.
enum CommentDomainEvent: DomainEvent, Hashable {
    /// The author of the stream commented on its event.
    case added(text: Personal<String>)
    /// The author was erased. It is the last domain event of the stream.
    case erased

    static let category = "comments"
    static let storedTypes = [StoredType("CommentAdded"), StoredType("CommentsErased")]
    static let personal = PersonalMembers(["text"], of: CommentsModule.ofAuthor)

    init(type: String, content: EventContent) throws {
        switch type {
        case "CommentAdded":
            self = .added(text: try content.readPersonal { try $0.stored("text") { $0.storedString } })
        case "CommentsErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    func check(in stream: StreamName, version: Int32) throws {
        guard CommentStream(stream) != nil else { throw FormatError("the stream is not named after event and author") }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .added(.present(let text)): ("CommentAdded", ["text": .string(text)])
        case .added(.erased): ("CommentAdded", [:])
        case .erased: ("CommentsErased", [:])
        }
    }
}

/// What one user wrote about one event.
struct CommentStream: Sendable, Hashable {
    var event: EventID
    var author: UserID

    /// For event 12 and user 7: `comments-12-7`.
    var name: StreamName { StreamName(category: CommentDomainEvent.category, key: "\(event.rawValue)-\(author.rawValue)") }
}

extension CommentStream {
    /// `nil` for the name of any other stream.
    init?(_ name: StreamName) {
        let ids = name.key.split(separator: "-").compactMap { Int64($0) }
        guard ids.count == 2, ids.allSatisfy({ $0 > 0 }) else { return nil }
        self.init(event: EventID(rawValue: ids[0]), author: UserID(rawValue: ids[1]))
        guard self.name == name else { return nil }
    }
}

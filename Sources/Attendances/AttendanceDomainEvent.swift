package import Encoding
package import EventStore
package import Events
package import Users

/// The domain events of attendances. A stream has the attendance of one user at one event: added and removed in turn.
package enum AttendanceDomainEvent: DomainEvent, Hashable {
    /// A user attends an event, for the first time or again.
    case added(AttendanceKey)
    case removed(AttendanceKey)
    /// The user was erased. It is the last domain event of the stream.
    case erased(AttendanceKey)

    package static let category = "attendance"
    package static let storedTypes = [
        StoredType("AttendanceAdded"), StoredType("AttendanceRemoved"), StoredType("AttendanceErased"),
    ]
    package static let personal = PersonalMembers([], of: AttendancesModule.ofUser)

    package init(type: String, content: EventContent) throws {
        let key = AttendanceKey(
            event: EventID(rawValue: try content.facts.stored("event") { $0.storedID }),
            user: UserID(rawValue: try content.facts.stored("user") { $0.storedID }))
        switch type {
        case "AttendanceAdded": self = .added(key)
        case "AttendanceRemoved": self = .removed(key)
        case "AttendanceErased": self = .erased(key)
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard stream == key.stream else { throw FormatError("the stream is not named after event and user") }
        switch self {
        case .added: guard version % 2 == 1 else { throw FormatError("an attendance is added at odd versions only") }
        case .removed: guard version % 2 == 0 else { throw FormatError("an attendance is removed at even versions only") }
        case .erased: guard version > 1 else { throw FormatError("an attendance is added before it is erased") }
        }
    }

    package var stored: (type: String, data: JSON) {
        let data: JSON = ["event": JSON(key.event.rawValue), "user": JSON(key.user.rawValue)]
        return switch self {
        case .added: ("AttendanceAdded", data)
        case .removed: ("AttendanceRemoved", data)
        case .erased: ("AttendanceErased", data)
        }
    }

    package var state: JSON {
        let isAttending =
            switch self {
            case .added: true
            case .removed, .erased: false
            }
        return ["event": JSON(key.event.rawValue), "user": JSON(key.user.rawValue), "attending": .bool(isAttending)]
    }

    var key: AttendanceKey {
        switch self {
        case .added(let key), .removed(let key), .erased(let key): key
        }
    }
}

/// The event and the user of an attendance.
package struct AttendanceKey: Sendable, Hashable {
    package var event: EventID
    package var user: UserID

    /// For event 12 and user 1: `attendance-12-1`.
    package var stream: StreamName {
        StreamName(category: AttendanceDomainEvent.category, key: "\(event.rawValue)-\(user.rawValue)")
    }
}

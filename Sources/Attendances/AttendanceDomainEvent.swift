package import Encoding
package import EventStore
package import Events
package import Users

/// A user attends an event, for the first time or again.
package struct AttendanceAdded: Sendable, Hashable {
    package var event: EventID
    package var user: UserID
}

/// A user does not attend an event any more.
package struct AttendanceRemoved: Sendable, Hashable {
    package var event: EventID
    package var user: UserID
}

/// The user was erased. It is the last domain event of the stream.
package struct AttendanceErased: Sendable, Hashable {
    package var event: EventID
    package var user: UserID
}

/// The domain events of attendances. A stream has the attendance of one user at one event: added and removed in turn.
package enum AttendanceDomainEvent: DomainEvent, Hashable {
    case added(AttendanceAdded)
    case removed(AttendanceRemoved)
    case erased(AttendanceErased)

    package static let category = "attendance"
    package static let storedTypes = [
        StoredType("AttendanceAdded"), StoredType("AttendanceRemoved"), StoredType("AttendanceErased"),
    ]
    package static let personal = PersonalMembers([], of: AttendancesModule.ofUser)

    package init(type: String, content: EventContent) throws {
        let event = EventID(rawValue: try content.facts.stored("event") { $0.storedID })
        let user = UserID(rawValue: try content.facts.stored("user") { $0.storedID })
        switch type {
        case "AttendanceAdded": self = .added(AttendanceAdded(event: event, user: user))
        case "AttendanceRemoved": self = .removed(AttendanceRemoved(event: event, user: user))
        case "AttendanceErased": self = .erased(AttendanceErased(event: event, user: user))
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
        case .added(let added): AttendanceKey(event: added.event, user: added.user)
        case .removed(let removed): AttendanceKey(event: removed.event, user: removed.user)
        case .erased(let erased): AttendanceKey(event: erased.event, user: erased.user)
        }
    }
}

/// The event and the user of an attendance.
package struct AttendanceKey: Sendable, Hashable {
    package var event: EventID
    package var user: UserID

    package init(event: EventID, user: UserID) {
        self.event = event
        self.user = user
    }

    /// For event 12 and user 1: `attendance-12-1`.
    package var stream: StreamName {
        StreamName(category: AttendanceDomainEvent.category, key: "\(event.rawValue)-\(user.rawValue)")
    }
}

package import Encoding
package import EventStore
package import Events
package import Users

/// A user attends an event.
package struct AttendanceAdded: Sendable, Hashable {
    package var event: EventID
    package var user: UserID
}

/// The domain events of attendances.
package enum AttendanceDomainEvent: DomainEvent, Hashable {
    case added(AttendanceAdded)

    package static let category = "attendance"
    package static let storedTypes = [StoredType("AttendanceAdded")]
    package static let personalFields: Set<String> = []

    package init(type: String, data: JSON) throws {
        switch type {
        case "AttendanceAdded":
            self = .added(
                AttendanceAdded(
                    event: EventID(rawValue: try data.stored("event") { $0.storedID }),
                    user: UserID(rawValue: try data.stored("user") { $0.storedID })
                )
            )
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        switch self {
        case .added(let added):
            guard stream == added.stream else { throw FormatError("the stream is not named after event and user") }
            guard version == 1 else { throw FormatError("an attendance is added at version 1 only") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .added(let added):
            ("AttendanceAdded", ["event": JSON(added.event.rawValue), "user": JSON(added.user.rawValue)])
        }
    }
}

extension AttendanceAdded {
    /// For event 12 and user 1: `attendance-12-1`.
    package var stream: StreamName {
        StreamName(category: AttendanceDomainEvent.category, key: "\(event.rawValue)-\(user.rawValue)")
    }
}

extension AttendEvent {
    var stream: StreamName { AttendanceAdded(event: event, user: by).stream }
}

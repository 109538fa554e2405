package import Encoding
package import EventStore
package import Users

/// A user created an event.
package struct EventCreated: Sendable, Hashable {
    package var owner: UserID
    package var details: EventDetails
}

/// The owner changed an event. The details are complete.
package struct EventUpdated: Sendable, Hashable {
    package var details: EventDetails
}

/// An operator hid an event from all users.
package struct EventHidden: Sendable, Hashable {
    /// The operator's words. Only tools show them.
    package var reason: String
}

/// The domain events of events.
package enum EventDomainEvent: DomainEvent, Hashable {
    case created(EventCreated)
    case updated(EventUpdated)
    /// The owner cancelled an event, for ever.
    case cancelled
    case hidden(EventHidden)
    /// An operator took ``hidden(_:)`` back.
    case unhidden

    package static let category = "event"
    package static let storedTypes = [
        StoredType("EventCreated"), StoredType("EventUpdated"), StoredType("EventCancelled"), StoredType("EventHidden"),
        StoredType("EventUnhidden"),
    ]
    /// A reason may tell about the person who complained or the person who owns the event.
    package static let personalFields: Set<String> = ["address", "lat", "lon", "reason"]

    package init(type: String, data: JSON) throws {
        switch type {
        case "EventCreated":
            let owner = UserID(rawValue: try data.stored("owner") { $0.storedID })
            self = .created(EventCreated(owner: owner, details: try EventDetails(stored: data)))
        case "EventUpdated": self = .updated(EventUpdated(details: try EventDetails(stored: data)))
        case "EventCancelled": self = .cancelled
        case "EventHidden": self = .hidden(EventHidden(reason: try data.stored("reason") { $0.storedString }))
        case "EventUnhidden": self = .unhidden
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard EventID(stream: stream) != nil else { throw FormatError("the stream is not named after an event's id") }
        switch self {
        case .created: guard version == 1 else { throw FormatError("an event is created at version 1 only") }
        case .updated: guard version > 1 else { throw FormatError("an event is created before it is updated") }
        case .cancelled: guard version > 1 else { throw FormatError("an event is created before it is cancelled") }
        case .hidden, .unhidden: guard version > 1 else { throw FormatError("an event is created before it is hidden") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created):
            let owner = JSONObject.Member(name: "owner", value: JSON(created.owner.rawValue))
            return ("EventCreated", .object(JSONObject(members: [owner] + created.details.stored)))
        case .updated(let updated): return ("EventUpdated", .object(JSONObject(members: updated.details.stored)))
        case .cancelled: return ("EventCancelled", [:])
        case .hidden(let hidden): return ("EventHidden", ["reason": .string(hidden.reason)])
        case .unhidden: return ("EventUnhidden", [:])
        }
    }

    /// The operator's reason is no property of the event; `humon streams show` has it.
    package var state: JSON {
        switch self {
        case .created, .updated: stored.data
        case .cancelled: ["cancelled": .bool(true)]
        case .hidden: ["hidden": .bool(true)]
        case .unhidden: ["hidden": .bool(false)]
        }
    }
}

extension EventID {
    package var stream: StreamName { StreamName(category: EventDomainEvent.category, key: String(rawValue)) }

    /// The event of a stream; `nil` for any other stream, and for a key that ``stream`` does not write.
    package init?(stream: StreamName) {
        guard stream.category == EventDomainEvent.category, let number = stream.keyAsID else { return nil }
        self.init(rawValue: number)
    }
}

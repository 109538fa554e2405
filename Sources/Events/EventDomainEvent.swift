package import Encoding
package import EventStore
package import Users

/// A user created an event.
package struct EventCreated: Sendable, Hashable {
    package var owner: UserID
    package var details: RecordedDetails

    package init(owner: UserID, details: EventDetails) { self.init(owner: owner, details: RecordedDetails(details)) }

    fileprivate init(owner: UserID, details: RecordedDetails) {
        self.owner = owner
        self.details = details
    }
}

/// The owner changed an event. The details are complete.
package struct EventUpdated: Sendable, Hashable {
    package var details: RecordedDetails

    package init(details: EventDetails) { self.details = RecordedDetails(details) }
    fileprivate init(details: RecordedDetails) { self.details = details }
}

/// An operator hid an event from all users.
package struct EventHidden: Sendable, Hashable {
    /// The operator's words. Only tools show them.
    package var reason: Personal<String>

    package init(reason: String) { self.reason = .present(reason) }
    fileprivate init(reason: Personal<String>) { self.reason = reason }
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
    /// The owner was erased. It is the last domain event of the stream.
    case erased

    package static let category = "event"
    package static let storedTypes = [
        StoredType("EventCreated"), StoredType("EventUpdated"), StoredType("EventCancelled"), StoredType("EventHidden"),
        StoredType("EventUnhidden"), StoredType("EventErased"),
    ]
    /// A reason may tell about the person who complained or the person who owns the event.
    package static let personal = PersonalMembers(
        RecordedDetails.PersonalDetails.members.union(["reason"]), of: EventsModule.ofOwner)

    package init(type: String, content: EventContent) throws {
        switch type {
        case "EventCreated":
            let owner = UserID(rawValue: try content.facts.stored("owner") { $0.storedID })
            self = .created(EventCreated(owner: owner, details: try RecordedDetails(stored: content)))
        case "EventUpdated": self = .updated(EventUpdated(details: try RecordedDetails(stored: content)))
        case "EventCancelled": self = .cancelled
        case "EventHidden":
            let reason = try content.readPersonal { try $0.stored("reason") { $0.storedString } }
            self = .hidden(EventHidden(reason: reason))
        case "EventUnhidden": self = .unhidden
        case "EventErased": self = .erased
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
        case .erased: guard version > 1 else { throw FormatError("an event is created before it is erased") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created):
            let owner = JSONObject.Member(name: "owner", value: JSON(created.owner.rawValue))
            return ("EventCreated", .object(JSONObject(members: [owner] + created.details.stored)))
        case .updated(let updated): return ("EventUpdated", .object(JSONObject(members: updated.details.stored)))
        case .cancelled: return ("EventCancelled", [:])
        case .hidden(let hidden):
            switch hidden.reason {
            case .present(let reason): return ("EventHidden", ["reason": .string(reason)])
            case .erased: return ("EventHidden", [:])
            }
        case .unhidden: return ("EventUnhidden", [:])
        case .erased: return ("EventErased", [:])
        }
    }

    /// The operator's reason is no property of the event; `humon streams show` has it.
    package var state: JSON {
        switch self {
        case .created, .updated: stored.data
        case .cancelled: ["cancelled": .bool(true)]
        case .hidden: ["hidden": .bool(true)]
        case .unhidden: ["hidden": .bool(false)]
        case .erased: ["erased": .bool(true)]
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

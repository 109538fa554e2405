package import Encoding
package import EventStore

/// The domain events of events.
package enum EventDomainEvent: DomainEvent, Hashable {
    /// A user created an event.
    case created(OwnedDetails)
    /// The owner changed an event. The details are complete.
    case updated(RecordedDetails)
    /// The owner cancelled an event, for ever.
    case cancelled
    /// An operator hid an event from all users. Only tools show the operator's words.
    case hidden(reason: Personal<String>)
    /// An operator took ``hidden(reason:)`` back. It has the whole event, because nodes keep no hidden ones; `nil` for a cancelled event.
    case unhidden(OwnedDetails?)
    /// The owner was erased. It is the last domain event of the stream.
    case erased

    package static let category = EventID.category
    package static let storedTypes = [
        StoredType("EventCreated"), StoredType("EventUpdated"), StoredType("EventCancelled"), StoredType("EventHidden"),
        StoredType("EventUnhidden"), StoredType("EventErased"),
    ]
    /// A reason may tell about the person who complained or the person who owns the event.
    package static let personal = PersonalMembers(
        RecordedDetails.personalMembers.union(["reason"]), of: EventsModule.ofOwner)

    package init(type: String, content: EventContent) throws {
        switch type {
        case "EventCreated": self = .created(try OwnedDetails(stored: content))
        case "EventUpdated": self = .updated(try RecordedDetails(stored: content))
        case "EventCancelled": self = .cancelled
        case "EventHidden":
            self = .hidden(reason: try content.readPersonal { try $0.stored("reason") { $0.storedString } })
        case "EventUnhidden": self = .unhidden(content.facts["owner"] == nil ? nil : try OwnedDetails(stored: content))
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
        case .created(let new): return ("EventCreated", new.stored)
        case .updated(let details): return ("EventUpdated", .object(JSONObject(members: details.stored)))
        case .cancelled: return ("EventCancelled", [:])
        case .hidden(.present(let reason)): return ("EventHidden", ["reason": .string(reason)])
        case .hidden(.erased): return ("EventHidden", [:])
        case .unhidden(let shown): return ("EventUnhidden", shown?.stored ?? [:])
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

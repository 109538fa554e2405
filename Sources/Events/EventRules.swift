public import Encoding
public import EventStore
public import Users

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

    public var code: RejectionCode? {
        switch self {
        case .cancelled: RejectionCode("event_cancelled")
        case .hidden: RejectionCode("event_hidden")
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

extension EventDetails {
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let lat = fields.required("lat", fields.number("lat", in: EventFields.latitudes))
        let lon = fields.required("lon", fields.number("lon", in: EventFields.longitudes))
        let name = fields.required("name", fields.name())
        let startedAt = fields.required("started_at", fields.time("started_at"))
        let address = fields.address().optional
        let endedAt = fields.time("ended_at").optional
        guard fields.errors.isEmpty, let lat, let lon, let name, let startedAt else { throw .invalid(errors: fields.errors) }
        self.init(
            name: name, address: address, coordinates: Coordinates(lat: lat, lon: lon), startedAt: startedAt, endedAt: endedAt
        )
    }
}

/// A change of some of the details (RFC 7396): an absent field stays as it is, null clears it.
public struct EventPatch: Sendable, Hashable {
    enum Change<Value: Sendable & Hashable>: Sendable, Hashable {
        case keep
        case set(Value)
    }

    var lat = Change<Double>.keep
    var lon = Change<Double>.keep
    var name = Change<String>.keep
    var startedAt = Change<Timestamp>.keep
    var address = Change<String?>.keep
    var endedAt = Change<Timestamp?>.keep

    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors, also if a required field is null
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        func required<Value>(_ name: String, _ field: EventFields.Field<Value>) -> Change<Value> {
            switch field {
            case .absent, .unusable: return .keep
            case .value(let value): return .set(value)
            case .blank:
                fields.isBlank(name)
                return .keep
            }
        }
        func clearable<Value>(_ field: EventFields.Field<Value>) -> Change<Value?> {
            switch field {
            case .absent, .unusable: .keep
            case .value(let value): .set(value)
            case .blank: .set(nil)
            }
        }
        lat = required("lat", fields.number("lat", in: EventFields.latitudes))
        lon = required("lon", fields.number("lon", in: EventFields.longitudes))
        name = required("name", fields.name())
        startedAt = required("started_at", fields.time("started_at"))
        address = clearable(fields.address())
        endedAt = clearable(fields.time("ended_at"))
        guard fields.errors.isEmpty else { throw .invalid(errors: fields.errors) }
    }

    func applied(to details: EventDetails) -> EventDetails {
        EventDetails(
            name: name.applied(to: details.name),
            address: address.applied(to: details.address),
            coordinates: Coordinates(
                lat: lat.applied(to: details.coordinates.lat), lon: lon.applied(to: details.coordinates.lon)),
            startedAt: startedAt.applied(to: details.startedAt),
            endedAt: endedAt.applied(to: details.endedAt)
        )
    }
}

extension EventPatch.Change {
    func applied(to value: Value) -> Value {
        switch self {
        case .keep: value
        case .set(let new): new
        }
    }
}

/// Create an event.
public struct CreateEvent: Sendable, Hashable {
    public var details: EventDetails
    public var owner: UserID

    public init(details: EventDetails, owner: UserID) {
        self.details = details
        self.owner = owner
    }
}

/// Change an event.
public struct UpdateEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case replace(EventDetails)
        case merge(EventPatch)
    }

    public var id: EventID
    public var change: Change
    public var by: UserID
    public var condition: VersionCondition

    public init(id: EventID, change: Change, by: UserID, condition: VersionCondition = VersionCondition()) {
        self.id = id
        self.change = change
        self.by = by
        self.condition = condition
    }
}

/// Every user may create events, and have as many live events as the quota says.
/// - Parameters:
///   - liveEvents: the number of the user's live events; `nil` if there is room
///   - quota: 0 for none
/// - Throws: ``EventRejection/tooManyEvents(maximum:)``
func decide(_ command: CreateEvent, liveEvents: Int? = nil, quota: Int = 0) throws(EventRejection) -> EventCreated {
    if let liveEvents, quota > 0, liveEvents >= quota { throw .tooManyEvents(maximum: quota) }
    return EventCreated(owner: command.owner, details: command.details)
}

/// Only the owner may change an event, and only in a version that the owner expects. A change to equal details is recorded too.
/// - Parameter mark: returns the mark of an event's content
/// - Throws: ``EventRejection``
func decide(_ command: UpdateEvent, on event: Event?, mark: (Event) -> UInt32) throws(EventRejection) -> EventUpdated {
    let event = try event.owned(by: command.by)
    guard !event.isCancelled else { throw .cancelled }
    guard command.condition.holds(for: event.version(mark)) else { throw .changedMeanwhile }
    switch command.change {
    case .replace(let details): return EventUpdated(details: details)
    case .merge(let patch): return EventUpdated(details: patch.applied(to: event.details))
    }
}

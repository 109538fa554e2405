public import Encoding
public import EventStore
public import Users

/// The id of an event.
public struct EventID: StreamID {
    public static let category = "event"

    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A gathering that people attend, in its present state.
public struct Event: Sendable, Hashable {
    public var id: EventID
    public var owner: UserID
    /// The version of its stream: the number of its domain events.
    public var version: Int32
    public var details: EventDetails
    /// The owner cancelled the event. That is final.
    public var isCancelled: Bool
    /// An operator hides the event. To everyone but its owner it looks as if it were not there.
    public var isHidden: Bool
    /// The time of the last domain event.
    public var revisedAt: Timestamp

    public init(
        id: EventID, owner: UserID, version: Int32, details: EventDetails, isCancelled: Bool = false, isHidden: Bool = false,
        revisedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.id = id
        self.owner = owner
        self.version = version
        self.details = details
        self.isCancelled = isCancelled
        self.isHidden = isHidden
        self.revisedAt = revisedAt
    }

    /// The event after a change of its details.
    func applying(_ details: EventDetails) -> Event {
        var event = self
        (event.details, event.version) = (details, version + 1)
        return event
    }

    /// Whether lists show the event.
    public var isLive: Bool { !isCancelled && !isHidden }
}

/// A point on the sphere.
public struct Coordinates: Sendable, Hashable {
    /// Degrees north, from -90 to 90.
    public var lat: Double
    /// Degrees east, from -180 to 180.
    public var lon: Double

    public init(lat: Double, lon: Double) {
        self.lat = lat
        self.lon = lon
    }
}

public import Encoding
public import Users

/// The id of an event.
public struct EventID: RawRepresentable, Hashable, Sendable {
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

    package init(
        id: EventID, owner: UserID, version: Int32, details: EventDetails, isCancelled: Bool = false, isHidden: Bool = false
    ) {
        self.id = id
        self.owner = owner
        self.version = version
        self.details = details
        self.isCancelled = isCancelled
        self.isHidden = isHidden
    }

    /// Whether lists show the event.
    public var isLive: Bool { !isCancelled && !isHidden }
}

/// The details of an event, all of them valid.
public struct EventDetails: Sendable, Hashable {
    public var name: String
    public var address: String?
    public var coordinates: Coordinates
    public var startedAt: Timestamp
    public var endedAt: Timestamp?

    /// Takes valid values. ``init(_:)`` checks the fields of a client.
    package init(name: String, address: String?, coordinates: Coordinates, startedAt: Timestamp, endedAt: Timestamp?) {
        self.name = name
        self.address = address
        self.coordinates = coordinates
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
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

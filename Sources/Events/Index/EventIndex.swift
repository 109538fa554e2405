public import SpatialIndex
public import Users

/// The in-memory index of events. The tag of a point is the event's owner, and the version is the stream's version. The payload
/// is the event's JSON as the API shows it. The position is the position in the log.
public typealias EventIndex = PointIndex

extension EventIndex.Batch {
    /// Adds an event or replaces it, unless the index holds a later version of it.
    public mutating func put(
        _ id: EventID, owner: UserID, version: Int32, coordinates: Coordinates, json: some Sequence<UInt8>
    ) {
        put(id, owner: owner, version: version, vector: UnitVector(coordinates), json: json)
    }

    /// Adds an event with the vector from the read model, because another processor may compute another last bit.
    mutating func put(_ id: EventID, owner: UserID, version: Int32, vector: UnitVector, json: some Sequence<UInt8>) {
        put(id.rawValue, tag: owner.rawValue, version: version, at: vector, payload: json)
    }

    public mutating func remove(_ id: EventID) { remove(id.rawValue) }
}

extension EventIndex.BulkLoad {
    public mutating func put(
        _ id: EventID, owner: UserID, version: Int32, coordinates: Coordinates, json: some Sequence<UInt8>
    ) {
        put(id.rawValue, tag: owner.rawValue, version: version, at: UnitVector(coordinates), payload: json)
    }
}

extension EventIndex.Snapshot {
    /// The event with an id.
    public func event(_ id: EventID) -> EventIndex.Entry? { entry(id.rawValue) }

    /// Finds the same events as ``EventsModule/nearest(_:)`` finds in the read model at the same position, in the same order.
    public func nearest(_ search: NearbySearch) -> EventIndex.Page {
        nearest(
            NearestQuery(
                centre: UnitVector(search.centre), squaredChord: Sphere.squaredChord(kilometres: search.radius),
                limit: search.limit,
                after: search.after.map { NearestQuery.Cursor(squaredChord: $0.squaredChord, id: $0.id.rawValue) }))
    }
}

extension EventIndex.Entry {
    var owner: UserID { UserID(rawValue: tag) }
}

extension EventIndex.Page {
    /// The cursor of the next page; nil if this page is the last one.
    var cursor: NearbySearch.Cursor? {
        next.map { NearbySearch.Cursor(squaredChord: $0.squaredChord, id: EventID(rawValue: $0.id)) }
    }
}

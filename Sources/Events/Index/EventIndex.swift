internal import Encoding
public import SpatialIndex
internal import Users

/// The in-memory index of events. The tag of a point is the event's owner, the note an ``EventNote``, and the version the stream's
/// version. The payload is the event's JSON as lists show it, and the words are ``EventDetails/words``. The position is the position in
/// the log.
public typealias EventIndex = PointIndex

extension EventIndex.Batch {
    /// Adds an event or replaces it, unless the index holds a later version of it.
    mutating func put(_ id: EventID, _ event: HeldEvent) {
        let place = event.place
        let location = PointIndex.Location(
            latitude: place.coordinates.lat, longitude: place.coordinates.lon,
            span: place.startedAt.milliseconds...place.endsAt.milliseconds)
        put(
            id.rawValue, tag: event.owner.rawValue, note: event.note.rawValue, version: event.version, at: location,
            payload: event.json, words: event.words)
    }

    public mutating func remove(_ id: EventID) { remove(id.rawValue) }
}

extension EventIndex.Snapshot {
    /// The event with an id.
    public func event(_ id: EventID) -> EventIndex.Entry? { entry(id.rawValue) }

    /// Begins a search for the events near a point.
    package func search(_ request: NearestRequest) -> NearestSearch {
        self.search(
            NearestQuery(
                centre: UnitVector(request.centre), squaredChord: Sphere.squaredChord(kilometres: request.radius),
                window: request.filter.milliseconds, limit: request.limit,
                after: request.after.map { NearestQuery.Cursor(squaredChord: $0.squaredChord, id: $0.id.rawValue) },
                words: request.filter.words))
    }

    /// Begins a search for the events in a box.
    package func search(_ request: BoxRequest) -> BoxedSearch {
        self.search(
            BoxQuery(
                box: request.box, window: request.filter.milliseconds, limit: request.limit, after: request.after?.rawValue,
                words: request.filter.words))
    }
}

extension EventIndex.Entry {
    var owner: UserID { UserID(rawValue: tag) }
    var eventNote: EventNote { EventNote(rawValue: note) }

    package var place: EventPlace {
        EventPlace(
            coordinates: Coordinates(lat: location.latitude, lon: location.longitude),
            startedAt: Timestamp(milliseconds: location.span.lowerBound),
            endsAt: Timestamp(milliseconds: location.span.upperBound))
    }
}

extension EventIndex.Page {
    /// The cursor of the next page; nil if this page is the last one.
    var cursor: NearestRequest.Cursor? {
        next.map { NearestRequest.Cursor(squaredChord: $0.squaredChord, id: EventID(rawValue: $0.id)) }
    }
}

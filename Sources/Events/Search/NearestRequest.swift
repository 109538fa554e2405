public import Encoding
internal import EventStore

/// A request for the events near a point, in the order of their distance and then of their ids.
public struct NearestRequest: Sendable, Hashable {
    public static let defaultRadius = 20.0
    /// In kilometres. The Earth's circumference is 40,030 km.
    public static let radiusLimit = 50_000.0
    /// The largest number of events in one page, and the default.
    public static let maximumLimit = 1_000

    public var centre: Coordinates
    /// In kilometres on the surface. An event at exactly this distance is found.
    public var radius = defaultRadius
    public var filter = EventFilter()
    public var limit = maximumLimit
    /// The response has the events behind this cursor only.
    public var after: Cursor?

    /// The place of an event in the order of one search. The text is opaque to clients.
    public struct Cursor: Sendable, Hashable, CustomStringConvertible {
        var squaredChord: Double
        var id: EventID

        public var description: String { "\(String(squaredChord.bitPattern, radix: 16))-\(id.rawValue)" }
    }
}

extension NearestRequest.Cursor {
    /// `nil` for a text that is no cursor.
    public init?(_ text: String) {
        let parts = text.parts(separatedBy: "-")
        guard parts.count == 2, let bits = UInt64(parts[0], radix: 16), let id = Int64(parts[1]) else { return nil }
        self.init(squaredChord: Double(bitPattern: bits), id: EventID(rawValue: id))
        guard (0...4.1).contains(squaredChord) else { return nil }
    }
}

extension NearestRequest {
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let lat = fields.required("lat", fields.number("lat", in: EventFields.latitudes))
        let lon = fields.required("lon", fields.number("lon", in: EventFields.longitudes))
        let radius = fields.number("radius", in: 0...Self.radiusLimit).optional
        let limit = fields.limit(maximum: Self.maximumLimit)
        let after = fields.after { Cursor($0) }
        let filter = fields.filter()
        guard fields.errors.isEmpty, let lat, let lon else { throw .invalid(errors: fields.errors) }
        self.init(
            centre: Coordinates(lat: lat, lon: lon),
            radius: radius ?? Self.defaultRadius,
            filter: filter,
            limit: limit,
            after: after
        )
    }
}

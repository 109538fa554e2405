public import Encoding
public import EventStore
internal import SpatialIndex

/// What a stream of changes follows: the events of an area and a window of time, from a cursor of the log on.
public struct ChangeSearch: Sendable, Hashable {
    public var area: ChangeArea
    public var window = TimeWindow()
    /// The stream has the changes after this cursor; `nil` for those from now on.
    public var since: LogCursor?
}

extension ChangeSearch {
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let area = Self.area(json, &fields)
        let window = fields.window()
        let since = fields.cursor("since")
        guard fields.errors.isEmpty, let area else { throw .invalid(errors: fields.errors) }
        self.init(area: area, window: window, since: since)
    }

    /// A box or a circle. Without any of their fields the box is missing.
    private static func area(_ json: JSON, _ fields: inout EventFields) -> ChangeArea? {
        let hasCircle = json["lat"] != nil || json["lon"] != nil || json["radius"] != nil
        guard hasCircle else { return fields.required("bbox", fields.box()).map(ChangeArea.box) }
        guard json["bbox"] == nil else {
            fields.mayNotStand("bbox", beside: "lat, lon and radius")
            return nil
        }
        let lat = fields.required("lat", fields.number("lat", in: EventFields.latitudes))
        let lon = fields.required("lon", fields.number("lon", in: EventFields.longitudes))
        let radius = fields.number("radius", in: 0...NearestRequest.radiusLimit).optional
        guard let lat, let lon else { return nil }
        return .circle(centre: Coordinates(lat: lat, lon: lon), radius: radius ?? NearestRequest.defaultRadius)
    }
}

internal import Encoding
public import SpatialIndex

/// An area of the sphere whose events a client follows.
public enum EventArea: Sendable, Hashable {
    case box(DegreeBox)
    /// - Parameter radius: in kilometres on the surface
    case circle(centre: Coordinates, radius: Double)
}

extension EventFields {
    /// A box or a circle; `nil` after a validation error. Without any of their fields the box is missing.
    mutating func area() -> EventArea? {
        let hasCircle = ["lat", "lon", "radius"].contains { fields[$0] != nil }
        guard hasCircle else { return required("bbox", box()).map(EventArea.box) }
        guard fields["bbox"] == nil else {
            mayNotStand("bbox", beside: "lat, lon and radius")
            return nil
        }
        let lat = required("lat", number("lat", in: Self.latitudes))
        let lon = required("lon", number("lon", in: Self.longitudes))
        let radius = number("radius", in: 0...NearestRequest.radiusLimit).optional
        guard let lat, let lon else { return nil }
        return .circle(centre: Coordinates(lat: lat, lon: lon), radius: radius ?? NearestRequest.defaultRadius)
    }
}

extension LongSearches {
    /// Finds the events of an area, in any order.
    /// - Returns: some of them up to the limit, and whether these are all
    /// - Throws: `CancellationError`, ``SearchesBusyError``
    func entries(
        of area: EventArea, _ filter: EventFilter, limit: Int, in snapshot: EventIndex.Snapshot
    ) async throws -> (entries: [EventIndex.Entry], areAll: Bool) {
        let page =
            switch area {
            case .box(let box):
                try await finish(snapshot.search(BoxRequest(box: box, filter: filter, limit: limit)))
            case .circle(let centre, let radius):
                try await finish(
                    snapshot.search(NearestRequest(centre: centre, radius: radius, filter: filter, limit: limit)))
            }
        return ((0..<page.count).map { page[$0] }, page.isLast)
    }
}

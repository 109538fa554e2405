/// The area of a search, a list or a stream of changes.
public enum Region: Sendable, Hashable {
    /// All places at most this far from the centre, on a sphere. Lists give the nearest event first.
    /// - Parameter radiusKilometers: 0 to 50,000
    case circle(center: Coordinate, radiusKilometers: Double)
    /// Lists give events in the order of their ids.
    case box(Box)

    /// Kilometres of a degree of latitude, as the book *iOS on Rails* rounds them.
    private static let kilometersPerDegree = 111.0

    /// The visible region of a map: its centre and its spans in degrees, such as those of an `MKCoordinateRegion`.
    public static func visible(center: Coordinate, latitudeDelta: Double, longitudeDelta: Double) -> Region {
        .box(Box(center: center, latitudeDelta: latitudeDelta, longitudeDelta: longitudeDelta))
    }

    /// The circle that the app of the book *iOS on Rails* searches for a map: its radius is half the height of the map.
    /// - Parameter latitudeDelta: degrees from the lower to the upper edge
    public static func visibleCircle(center: Coordinate, latitudeDelta: Double) -> Region {
        .circle(center: center, radiusKilometers: latitudeDelta / 2 * kilometersPerDegree)
    }

    /// The parameters of a query.
    var query: [(name: String, value: String)] {
        switch self {
        case .circle(let center, let radius):
            [("lat", "\(center.latitude)"), ("lon", "\(center.longitude)"), ("radius", "\(radius)")]
        case .box(let box): [("bbox", box.text)]
        }
    }
}

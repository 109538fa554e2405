/// The events of one cell of a map. To open a cluster, fit the map to its box.
public struct Cluster: Sendable, Hashable {
    /// The middle of the box.
    public var coordinate: Coordinate
    /// Number of events, at least 1.
    public var count: Int
    /// The smallest box around the events. The same window in this box has exactly these events.
    public var box: Box

    public init(coordinate: Coordinate, count: Int, box: Box) {
        self.coordinate = coordinate
        self.count = count
        self.box = box
    }
}

extension Cluster: Decodable {
    private enum CodingKeys: String, CodingKey {
        case count
        case box = "bbox"
    }

    /// - Throws: `DecodingError` if the value is not a cluster of the API
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        coordinate = try Coordinate(from: decoder)
        count = try fields.decode(Int.self, forKey: .count)
        box = try fields.decode(Box.self, forKey: .box)
    }
}

public import Encoding
internal import EventStore
public import SpatialIndex

/// A request for the numbers of events in the cells of a map's view, for a view with too many events to show.
public struct ClusterRequest: Sendable, Hashable {
    /// The largest number of cells of a view. The whole Earth has as many at zoom 4.
    public static let maximumCells = 4_096
    public static let zooms = 0.0...22.0

    public var box: DegreeBox
    public var filter: EventFilter
    let grid: TileGrid

    /// - Parameter json: the fields `bbox`, `zoom`, `from`, `to`, `q` and `category`
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(_ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let box = fields.required("bbox", fields.box())
        let zoom = fields.required("zoom", fields.wholeNumber("zoom", in: Self.zooms))
        filter = fields.filter()
        guard fields.errors.isEmpty, let box, let zoom else { throw .invalid(errors: fields.errors) }
        guard let grid = TileGrid(box, zoom: Int(zoom), maximumCells: Self.maximumCells) else {
            throw .invalid(errors: [
                FieldError("zoom", .outOfRange, "is too large for this bbox (maximum is \(Self.maximumCells) cells)")
            ])
        }
        (self.box, self.grid) = (box, grid)
    }
}

/// The events of one cell of a map's view.
public struct EventCluster: Sendable, Hashable {
    /// Number of events.
    public var count: Int
    /// The smallest box around the events. It does not cross the date line.
    public var box: DegreeBox

    /// West, south, east and north of the box, in degrees.
    public var bbox: [Double] { [box.west, box.south, box.east, box.north] }

    /// The middle of the box.
    public var centre: Coordinates { Coordinates(lat: (box.south + box.north) / 2, lon: (box.west + box.east) / 2) }
}

/// A search for the clusters of a view: one search for each part of it.
public struct EventClusterSearch: PointSearch {
    /// Maximum number of clusters that the first part finds. An event loop has no time to write more.
    private static let clustersOfFirstPart = 100

    private var rest: [CellSearch]
    private var isFirstPart = true
    /// Number of columns of each part.
    private let columns: [Int]
    private var found: [(row: Int, column: Int, cluster: EventCluster)] = []

    init(_ request: ClusterRequest, _ snapshot: EventIndex.Snapshot) {
        rest = request.grid.parts.map { part in
            snapshot.search(
                ClusterQuery(
                    box: part.box, window: request.filter.milliseconds, latitudes: request.grid.latitudes,
                    longitudes: part.longitudes, words: request.filter.words))
        }
        columns = request.grid.parts.map { $0.longitudes.count + 1 }
    }

    public mutating func part(visits: Int) -> [EventCluster]? {
        defer { isFirstPart = false }
        let share = max(1, visits / columns.count)
        while !rest.isEmpty {
            guard let clusters = rest[0].part(visits: share) else { return nil }
            let firstColumn = columns.dropLast(rest.count).reduce(0, +)
            found += clusters.map { ($0.row, firstColumn + $0.column, EventCluster(count: $0.count, box: $0.box)) }
            rest.removeFirst()
        }
        guard !isFirstPart || found.count <= Self.clustersOfFirstPart else { return nil }
        if columns.count > 1 { found.sort { ($0.row, $0.column) < ($1.row, $1.column) } }
        return found.map(\.cluster)
    }
}

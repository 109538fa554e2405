/// A search for the numbers of points in the cells of a grid.
public struct ClusterQuery: Sendable, Hashable {
    /// Only points in the box are counted. It must not cross the date line.
    public var box: DegreeBox
    /// The search counts points with spans that overlap the window; `nil` counts points of any time.
    public var window: ClosedRange<Int64>?
    /// The latitudes between two rows, from south to north. A point on such a latitude is in the northern row.
    public var latitudes: [Double]
    /// The longitudes between two columns, from west to east. A point on such a longitude is in the eastern column.
    public var longitudes: [Double]
    /// Only points with these words are counted; `nil` counts points with any words and without.
    public var words: PointIndex.WordQuery?

    public init(
        box: DegreeBox, window: ClosedRange<Int64>? = nil, latitudes: [Double], longitudes: [Double],
        words: PointIndex.WordQuery? = nil
    ) {
        self.box = box
        self.window = window
        self.latitudes = latitudes
        self.longitudes = longitudes
        self.words = words
    }
}

extension PointIndex {
    /// The points of a cell.
    public struct Cluster: Sendable, Hashable {
        /// The number of the row, from the south; 0 for the first.
        public var row: Int
        /// The number of the column, from the west; 0 for the first.
        public var column: Int
        /// Number of points.
        public var count: Int
        /// The smallest box around the points.
        public var box: DegreeBox
    }
}

extension PointIndex.Snapshot {
    /// Begins a search for the numbers of points in the cells of a grid.
    public func search(_ query: ClusterQuery) -> CellSearch { CellSearch(query, self) }
}

/// A search for the numbers of points in the cells of a grid: the cells with points, from south to north, and then from west to east.
public struct CellSearch: PointSearch {
    private let snapshot: PointIndex.Snapshot
    private var cells: CellCounts
    /// Where the walk down the tree goes on.
    private var next: LeafKey?

    init(_ query: ClusterQuery, _ snapshot: PointIndex.Snapshot) {
        self.snapshot = snapshot
        cells = CellCounts(query)
    }

    public mutating func part(visits: Int) -> [PointIndex.Cluster]? {
        var work = VisitBudget(visits: visits)
        next = withExtendedLifetime(snapshot) { snapshot.root.walk(from: next, of: snapshot.count, .filter, &cells, &work) }
        return next == nil ? cells.clusters : nil
    }
}

/// Counts a node without reading its points if all of them pass the filter and are in one cell.
private struct CellCounts: TreeVisitor, Sendable {
    let filter: PointFilter
    private let latitudes: [Double]
    private let longitudes: [Double]
    private var cells: [(count: Int, box: DegreeBox)]
    /// The cell of the last point, and its edges: the next point is mostly in the same.
    private var last = (cell: 0, latitudes: 0.0..<0.0, longitudes: 0.0..<0.0)

    init(_ query: ClusterQuery) {
        filter = PointFilter(box: query.box, window: query.window ?? .min ... .max, words: query.words)
        (latitudes, longitudes) = (query.latitudes, query.longitudes)
        cells = Array(repeating: (0, .empty), count: (latitudes.count + 1) * (longitudes.count + 1))
    }

    var clusters: [PointIndex.Cluster] {
        cells.enumerated().compactMap { index, cell in
            let (row, column) = index.quotientAndRemainder(dividingBy: longitudes.count + 1)
            return cell.count == 0 ? nil : PointIndex.Cluster(row: row, column: column, count: cell.count, box: cell.box)
        }
    }

    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep {
        let step = filter.step(children, index)
        guard step == .take, filter.words == nil else { return step }
        let degrees = children.degrees(index)
        let cell = cell(degrees.south, degrees.west)
        guard cell == self.cell(degrees.north, degrees.east) else { return .take }
        add(children.counts[index], degrees, to: cell)
        return .skip
    }

    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep) -> Int {
        var points = 0
        filter.forEachRow(of: leaf, count, step) { row in
            let degrees = leaf.degrees(row, of: count)
            if !last.latitudes.contains(degrees.south) || !last.longitudes.contains(degrees.west) {
                last = edges(of: cell(degrees.south, degrees.west))
            }
            add(1, degrees, to: last.cell)
            points += 1
        }
        return points
    }

    private func cell(_ latitude: Double, _ longitude: Double) -> Int {
        let row = latitudes.partitioningIndex { $0 > latitude }
        return row * (longitudes.count + 1) + longitudes.partitioningIndex { $0 > longitude }
    }

    private func edges(of cell: Int) -> (Int, Range<Double>, Range<Double>) {
        func edges(_ number: Int, _ all: [Double]) -> Range<Double> {
            (number == 0 ? -.infinity : all[number - 1])..<(number == all.count ? .infinity : all[number])
        }
        let (row, column) = cell.quotientAndRemainder(dividingBy: longitudes.count + 1)
        return (cell, edges(row, latitudes), edges(column, longitudes))
    }

    private mutating func add(_ count: Int, _ degrees: DegreeBox, to cell: Int) {
        cells[cell].count += count
        cells[cell].box.cover(degrees)
    }
}

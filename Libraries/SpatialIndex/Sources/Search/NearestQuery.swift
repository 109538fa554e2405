/// A search for the points nearest to a centre, in the order of distance, then id.
public struct NearestQuery: Sendable, Hashable {
    public var centre: UnitVector
    /// The largest squared chord of a result: see ``UnitVector/squaredChord(angle:)``.
    public var squaredChord: Double
    /// The search finds points with spans that overlap the window; `nil` finds points of any time.
    public var window: ClosedRange<Int64>?
    /// Maximum number of results.
    public var limit: Int
    /// Results come after this place in the order.
    public var after: Cursor?
    /// Only points with these words are found; `nil` finds points with any words and without.
    public var words: PointIndex.WordQuery?

    public init(
        centre: UnitVector, squaredChord: Double = .infinity, window: ClosedRange<Int64>? = nil, limit: Int, after: Cursor? = nil,
        words: PointIndex.WordQuery? = nil
    ) {
        self.centre = centre
        self.squaredChord = squaredChord
        self.window = window
        self.limit = limit
        self.after = after
        self.words = words
    }

    /// The place of a point in the order of one search. The point need not exist.
    public struct Cursor: Sendable, Hashable {
        public var squaredChord: Double
        public var id: Int64

        public init(squaredChord: Double, id: Int64) {
            self.squaredChord = squaredChord
            self.id = id
        }
    }
}

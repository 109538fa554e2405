extension PointIndex {
    /// Where and when a point is.
    public struct Location: Sendable, Hashable {
        /// The vector decides all distances. Another program may have computed it, with other last bits than ``UnitVector/init(latitude:longitude:)``.
        public var vector: UnitVector
        /// Degrees north. Boxes compare this number as it is.
        public var latitude: Double
        /// Degrees east, from -180 to 180. Boxes compare this number as it is.
        public var longitude: Double
        /// The first and the last moment, for example in milliseconds.
        public var span: ClosedRange<Int64>

        /// - Parameters:
        ///   - vector: nil computes it from latitude and longitude
        ///   - span: the default is a point that is in every window
        public init(
            latitude: Double, longitude: Double, vector: UnitVector? = nil, span: ClosedRange<Int64> = .min ... .max
        ) {
            self.vector = vector ?? UnitVector(latitude: latitude, longitude: longitude)
            self.latitude = latitude
            self.longitude = longitude
            self.span = span
        }
    }
}

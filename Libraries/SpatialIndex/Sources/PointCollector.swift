/// Collects points for an index: ``PointIndex/Batch`` and ``PointIndex/BulkLoad``.
public protocol PointCollector {
    /// Adds a point, and copies the bytes of its payload.
    mutating func put(_ id: Int64, tag: Int64, version: Int32, at location: PointIndex.Location, bytes: Span<UInt8>)
}

extension PointCollector {
    /// Adds a point.
    /// - Parameters:
    ///   - tag: a number of the caller's, stored beside the payload
    ///   - payload: copied
    @inlinable
    public mutating func put(
        _ id: Int64, tag: Int64 = 0, version: Int32, at location: PointIndex.Location, payload: some Sequence<UInt8>
    ) {
        // An array is not copied.
        let bytes = Array(payload)
        put(id, tag: tag, version: version, at: location, bytes: bytes.span)
    }
}

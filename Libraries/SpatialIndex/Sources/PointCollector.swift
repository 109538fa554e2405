/// Collects points for an index: ``PointIndex/Batch`` and ``PointIndex/BulkLoad``.
public protocol PointCollector {
    /// Adds a point, and copies the bytes of its payload.
    mutating func put(_ id: Int64, tag: Int64, version: Int32, at location: PointIndex.Location, bytes: UnsafeRawBufferPointer)
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
        let isCopied: Void? = payload.withContiguousStorageIfAvailable {
            put(id, tag: tag, version: version, at: location, bytes: UnsafeRawBufferPointer($0))
        }
        guard isCopied == nil else { return }
        Array(payload).withUnsafeBytes { put(id, tag: tag, version: version, at: location, bytes: $0) }
    }
}

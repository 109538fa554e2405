internal import Synchronization

/// Points on the unit sphere with payloads, in memory. Readers never wait for the writer.
///
/// ```swift
/// let index = PointIndex()
/// var batch = PointIndex.Batch()
/// for city in cities {
///     let location = PointIndex.Location(latitude: city.latitude, longitude: city.longitude)
///     batch.put(Int64(city.id), version: 1, at: location, payload: city.name.utf8)
/// }
/// index.apply(batch, position: 1)
/// ```
///
/// The index has one position: a number that grows with the changes, such as a position in a log. A batch makes a new snapshot,
/// which shares all unchanged memory with the snapshot before it. A reader takes a snapshot and keeps it for as long as it needs
/// it. So a reader sees whole batches only, and the lock protects only the copy of one reference.
public final class PointIndex: Sendable {
    private let backlog = DeferredReclamation.Backlog()
    private let current: Mutex<Snapshot>
    /// Holds the previous snapshot. The writer takes this lock for each batch. It releases the previous snapshot one batch later, so
    /// that the writer, and not a reader, frees the replaced memory.
    private let previous = Mutex<Snapshot?>(nil)

    public init() { current = Mutex(Snapshot(backlog)) }

    deinit { snapshot.close() }

    /// Bytes of memory that the present snapshot does not have any more and that readers of earlier snapshots still hold.
    public var backlogBytes: Int { backlog.bytes }

    /// The points at the present position.
    public var snapshot: Snapshot { current.withLock { $0 } }

    /// Makes all changes of a batch visible together, and sets the position of the index to `position`.
    ///
    /// The index ignores a batch whose position is before the present one.
    /// - Parameter mark: the snapshot keeps it, for a caller with several histories that have equal positions
    public func apply(_ batch: Batch, position: Int64, mark: UInt32? = nil) {
        replace { position < $0.position ? nil : $0.next(batch, position: position, mark: mark) }
    }

    /// Replaces all points by the points of a bulk load, and empties the bulk load.
    ///
    /// The index ignores the points if their position is before the present one.
    /// - Parameter mark: as in ``apply(_:position:mark:)``
    public func fill(from bulkLoad: inout BulkLoad, position: Int64, mark: UInt32? = nil) {
        replace { position < $0.position ? nil : $0.next(&bulkLoad, position: position, mark: mark) }
        bulkLoad = BulkLoad()
    }

    /// Removes all points and the position. Readers keep the snapshots that they hold.
    public func removeAll() {
        previous.withLock { previous in
            let last = snapshot
            current.withLock { $0 = Snapshot(backlog) }
            last.close()
            previous = nil
        }
    }

    /// - Parameter next: nil if the last snapshot stays
    private func replace(_ next: (_ last: Snapshot) -> Snapshot?) {
        previous.withLock { previous in
            let last = snapshot
            guard let next = next(last) else { return }
            current.withLock { $0 = next }
            previous = last
        }
    }
}

extension PointIndex {
    /// Where and when a point is.
    public struct Location: Sendable, Hashable {
        /// The vector decides all distances.
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

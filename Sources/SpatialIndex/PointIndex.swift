internal import Synchronization
public import Users

/// The events of a node as they stand at one position of the log, in its own memory: for reads, which never wait for the writer.
///
/// All that is held is immutable. The writer makes the leaves that its batch touches anew, and the way from the root to them, and
/// then puts the new root in the place of the old one; a reader goes on with the root that it has taken. So a reader sees whole
/// batches only, and the lock is held for no longer than it takes to copy a reference.
public final class EventIndex: Sendable {
    private let current = Mutex(Snapshot())
    /// Held by the one that writes; the snapshot before the current one. So it is the writer, a batch later, who frees what was
    /// replaced, and not a reader that was under way then.
    private let previous = Mutex<Snapshot?>(nil)

    public init() {}

    deinit { snapshot.close() }

    /// All events at one position, for as long as it is held.
    public var snapshot: Snapshot { current.withLock { $0 } }

    /// Makes the changes of a batch, all at once, after which the index stands at this position.
    ///
    /// A batch of an earlier position than the index stands at is left out: it has been applied.
    public func apply(_ batch: Batch, position: Int64) {
        replace { position < $0.position ? nil : $0.next(batch, position: position) }
    }

    /// - Parameter next: nil where the last one stays
    func replace(_ next: (_ last: Snapshot) -> Snapshot?) {
        previous.withLock { previous in
            let last = snapshot
            guard let next = next(last) else { return }
            current.withLock { $0 = next }
            previous = last
        }
    }
}

extension EventIndex {
    /// Forgets everything; readers keep what they have taken.
    func removeAll() {
        previous.withLock { previous in
            let last = snapshot
            current.withLock { $0 = Snapshot() }
            last.close()
            previous = nil
        }
    }

    /// Changes in the order in which they happened. The JSON of the events is copied into one run of bytes.
    public struct Batch: Sendable {
        struct Change: Sendable {
            var id: Int64
            /// nil where the event is removed.
            var event: IndexedRow?
        }

        struct IndexedRow: Sendable {
            var owner: UserID
            var version: Int32
            var vector: UnitVector
            var json: Range<Int>
        }

        private(set) var changes: [Change] = []
        private(set) var json: [UInt8] = []

        public init() {}

        public var isEmpty: Bool { changes.isEmpty }

        /// The event stands like this from now on, unless the index holds a later version of it.
        public mutating func put(
            _ id: EventID, owner: UserID, version: Int32, coordinates: Coordinates, json: some Sequence<UInt8>
        ) {
            put(id, owner: owner, version: version, vector: UnitVector(coordinates), json: json)
        }

        /// The same with the vector of the read model, which whoever wrote it has computed.
        mutating func put(
            _ id: EventID, owner: UserID, version: Int32, vector: UnitVector, json: some Sequence<UInt8>
        ) {
            let start = self.json.count
            // Bytes side by side are copied at once, which `append` of a sequence that the compiler does not know does not do.
            if json.withContiguousStorageIfAvailable({ self.json.append(contentsOf: $0) }) == nil {
                self.json.append(contentsOf: json)
            }
            let event = IndexedRow(owner: owner, version: version, vector: vector, json: start..<self.json.count)
            changes.append(Change(id: id.rawValue, event: event))
        }

        /// Keeps the room that it has.
        mutating func removeAll() {
            changes.removeAll(keepingCapacity: true)
            json.removeAll(keepingCapacity: true)
        }

        public mutating func remove(_ id: EventID) { changes.append(Change(id: id.rawValue, event: nil)) }
    }
}

extension PointIndex {
    /// Changes of points, in the order in which they happened. All payloads and words are copied into one array.
    public struct Batch: Sendable {
        struct Change: Sendable {
            var id: Int64
            /// nil if the point is removed.
            var row: Row?
        }

        struct Row: Sendable {
            var tag: Int64
            var note: UInt64
            var version: Int32
            var location: Location
            var payload: Range<Int>
            var words: Range<Int>
        }

        private(set) var changes: [Change] = []
        private(set) var texts: [UInt8] = []

        public init() {}

        /// Number of changes.
        public var count: Int { changes.count }

        /// Adds a point or replaces it, unless the index holds a later version of it.
        /// - Parameters:
        ///   - tag: a number of the caller's, stored beside the payload
        ///   - note: another number of the caller's
        ///   - payload: copied
        ///   - words: UTF-8, each word behind a space: ` chess in the park`. A ``WordQuery`` finds the point by their beginnings
        @inlinable
        public mutating func put(
            _ id: Int64, tag: Int64 = 0, note: UInt64 = 0, version: Int32, at location: Location, payload: some Sequence<UInt8>,
            words: [UInt8] = []
        ) {
            // Otherwise a search would take the first word for the end of the last word of another point.
            precondition(words.isEmpty || words[0] == UInt8(ascii: " "), "each word stands behind a space")
            // An array is not copied.
            let bytes = Array(payload)
            put(id, tag: tag, note: note, version: version, at: location, bytes: bytes.span, words: words.span)
        }

        @usableFromInline
        mutating func put(
            _ id: Int64, tag: Int64, note: UInt64, version: Int32, at location: Location, bytes: Span<UInt8>, words: Span<UInt8>
        ) {
            let start = texts.count
            texts.append(bytes)
            let end = texts.count
            texts.append(words)
            let row = Row(
                tag: tag, note: note, version: version, location: location, payload: start..<end, words: end..<texts.count)
            changes.append(Change(id: id, row: row))
        }

        /// Removes a point. An id that the index does not hold has no effect.
        public mutating func remove(_ id: Int64) { changes.append(Change(id: id, row: nil)) }

        /// Empties the batch and keeps its memory.
        public mutating func removeAll() {
            changes.removeAll(keepingCapacity: true)
            texts.removeAll(keepingCapacity: true)
        }
    }
}

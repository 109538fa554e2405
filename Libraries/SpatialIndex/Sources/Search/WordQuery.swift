extension PointIndex {
    /// Beginnings of words that a point must have, each of them.
    public struct WordQuery: Sendable, Hashable {
        /// Each behind a space. The longest comes first, because fewest points have it.
        private let beginnings: [[UInt8]]
        let hashes: [Int]

        /// `nil` without words and category.
        /// - Parameters:
        ///   - beginnings: UTF-8, each behind a space: ` che park`
        ///   - category: the point must have the ``PointIndex/word(ofCategory:)``
        public init?(beginnings: [UInt8], category: String? = nil) {
            let words = (beginnings + (category.map(PointIndex.word) ?? [])).split(separator: UInt8(ascii: " "))
            if words.isEmpty { return nil }
            self.beginnings = words.map { [UInt8(ascii: " ")] + $0 }.sorted { $0.count > $1.count }
            var hashes: [Int] = []
            self.beginnings.flatMap(\.self).withColumn { WordHashes.forEach(in: $0) { hashes.append($0) } }
            self.hashes = hashes
        }

        /// Number of bytes that a search of words compares at most.
        func bytes(of words: Column<UInt8>) -> Int { words.count * beginnings.count }

        /// The rows of a leaf that have words with all beginnings, one bit each.
        func rows(of leaf: Leaf) -> UInt64 {
            var rows = UInt64.max
            for beginning in beginnings where rows != 0 { rows &= beginning.withColumn(leaf.rows) }
            return rows
        }

        /// Whether a point with these words is found.
        /// - Parameter words: as ``Batch/put(_:tag:note:version:at:payload:words:)`` takes them
        public func matches(_ words: [UInt8]) -> Bool { words.withColumn { matches($0) } }

        /// - Parameter words: of one point
        func matches(_ words: Column<UInt8>) -> Bool {
            beginnings.allSatisfy { $0.withColumn { words.firstPlace(of: $0, from: 0) != nil } }
        }
    }

    /// The word by which a search for a category finds a point. Its signs are in no word of a text, and end it.
    public static func word(ofCategory category: String) -> [UInt8] { Array(" =\(category)=".utf8) }
}

extension Leaf {
    /// The rows with a word that begins so, one bit each.
    /// - Parameter beginning: behind a space, as the words of each row are, so that it never reaches into the next row
    fileprivate func rows(with beginning: Column<UInt8>) -> UInt64 {
        let (words, ends) = (words, texts.ends)
        var (rows, row, place) = (UInt64(0), 0, 0)
        while let found = words.firstPlace(of: beginning, from: place) {
            while ends[row] <= found { row += 1 }
            rows |= 1 &<< UInt64(row)
            place = Int(ends[row])
        }
        return rows
    }
}

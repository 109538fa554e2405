extension [PointIndex.Page.Hit] {
    /// Keeps the smallest elements, in any order. Source: Hoare, *Algorithm 65: find*, Communications of the ACM 4 (1961).
    mutating func keepSmallest(_ count: Int) {
        var (low, high) = (0, self.count - 1)
        while low < high {
            let pivot = self[low + (high - low) / 2]
            var (left, right) = (low, high)
            while left <= right {
                while self[left] < pivot { left += 1 }
                while pivot < self[right] { right -= 1 }
                if left <= right {
                    swapAt(left, right)
                    left += 1
                    right -= 1
                }
            }
            if right < count - 1 { low = left }
            if count - 1 < left { high = right }
        }
        removeLast(self.count - count)
    }

    /// Sorts by rank, then id: a bucket sort by rank, then an insertion sort.
    ///
    /// The squared chord grows with the area. So hits that are spread over an area fill the buckets evenly, about one hit in each
    /// bucket. If many hits share few places, the standard library sorts them.
    mutating func sortByRank() {
        guard count > 32 else { return withMutableColumn { $0.sortNearlySorted() } }
        let least = reduce(Double.infinity) { Swift.min($0, $1.rank) }
        let most = reduce(-Double.infinity) { Swift.max($0, $1.rank) }
        let scale = Double(count - 1) / (most - least)
        guard scale.isFinite else { return sort() }
        func bucket(_ hit: PointIndex.Page.Hit) -> Int { Int((hit.rank - least) * scale) }
        withTemporaryColumn(of: Int32.self, count: count + 1) { ends in
            ends.fill(with: 0)
            for hit in self { ends[bucket(hit)] += 1 }
            var (sum, fullest) = (Int32(0), Int32(0))
            for index in 0..<count {
                fullest = Swift.max(fullest, ends[index])
                sum += ends[index]
                ends[index] = sum
            }
            guard fullest <= 32 else { return sort() }
            self = Self(count: count) { sorted in
                for hit in self {
                    ends[bucket(hit)] -= 1
                    sorted[Int(ends[bucket(hit)])] = hit
                }
                sorted.sortNearlySorted()
            }
        }
    }
}

extension Column<PointIndex.Page.Hit> {
    /// Insertion sort, which is fast if few elements are out of place.
    fileprivate func sortNearlySorted() {
        for index in 1..<max(1, count) {
            let hit = self[index]
            var place = index
            while place > 0, hit < self[place - 1] {
                self[place] = self[place - 1]
                place -= 1
            }
            self[place] = hit
        }
    }
}

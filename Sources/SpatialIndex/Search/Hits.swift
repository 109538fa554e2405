extension EventIndex.Page.Hit {
    static func < (left: Self, right: Self) -> Bool {
        left.squaredChord == right.squaredChord ? left.id < right.id : left.squaredChord < right.squaredChord
    }
}

extension [EventIndex.Page.Hit] {
    /// In any order. Source: Hoare, *Algorithm 65: find*, Communications of the ACM 4 (1961).
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
}

extension [EventIndex.Page.Hit] {
    /// Nearest first.
    ///
    /// The squared chord grows as the area does, so that hits spread over an area fill as many classes of it evenly: hardly more
    /// than one to each, which leaves little to sort. Where events crowd in few places it is a sort like any other.
    mutating func sortByDistance() {
        guard count > 32 else { return withUnsafeMutableBufferPointer { $0.sortNearlySorted() } }
        let farthest = reduce(0) { Swift.max($0, $1.squaredChord) }
        let scale = Double(count - 1) / farthest
        guard scale.isFinite else { return sort() }
        func part(_ hit: EventIndex.Page.Hit) -> Int { Int(hit.squaredChord * scale) }
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: count + 1) { ends in
            ends.initialize(repeating: 0)
            for hit in self { ends[part(hit)] += 1 }
            var (sum, most) = (Int32(0), Int32(0))
            for index in 0..<count {
                most = Swift.max(most, ends[index])
                sum += ends[index]
                ends[index] = sum
            }
            guard most <= 32 else { return sort() }
            self = Self(unsafeUninitializedCapacity: count) { sorted, initialized in
                for hit in self {
                    ends[part(hit)] -= 1
                    sorted.initializeElement(at: Int(ends[part(hit)]), to: hit)
                }
                initialized = count
                sorted.sortNearlySorted()
            }
        }
    }
}

extension UnsafeMutableBufferPointer<EventIndex.Page.Hit> {
    /// By insertion.
    fileprivate func sortNearlySorted() {
        for index in indices.dropFirst() {
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

internal import DequeModule

/// The last changes of the log in memory, so that a client continues after a reconnect.
///
/// The ring keeps where and when events took place, and nothing else of them. The content of an event comes from the index, so that
/// no client gets content that was changed, cancelled or hidden since.
///
/// Of an erased event it keeps the number alone. Every client learns that the event is gone, whatever its list: whoever asks for many
/// lists learns no place.
struct ChangeRing: Sendable {
    /// A change, linked with earlier changes in the same cells.
    private struct Entry: Sendable {
        var position: Int64
        var id: EventID
        var before: EventPlace?
        var after: EventPlace?
        /// The number of the previous change in the cell of `before`; -1 for none.
        var previousBefore = -1
        /// The number of the previous change in the cell of `after`; -1 for none, and if the two cells are one.
        var previousAfter = -1
    }

    /// A change that a client must learn.
    struct Missed: Hashable {
        var position: Int64
        var id: EventID
        /// Whether a list with the filter shows the event before and after the change.
        var before: Bool
        var after: Bool
    }

    /// Maximum number of changes: 28 seconds of 14,000 changes a second, in 45 MB. Heartbeats renew the positions of clients more often.
    /// The cells take up to 17 MB.
    static let limit = 400_000
    /// Maximum number of erasures, which every client's replay has.
    private static let erasureLimit = 1_000
    /// Maximum number of changes that one client's replay reads, so that its time is bounded.
    static let visitLimit = 8_192
    /// The cells of this level have 0.35 degrees of latitude, or 39 km. The ring remembers one number for each cell, 262,144 at most.
    private static let cellLevel = 9
    /// Maximum number of cells that one client's replay reads.
    private static let cellLimit = 4_096

    /// The ring has every change after this position.
    private(set) var floor: Int64
    /// The ring has every change up to this position.
    private(set) var through: Int64
    private var entries: Deque<Entry> = []
    /// Erased events whose places ``forgetErased()`` has not removed yet. No client learns them any more.
    private var erased: Set<EventID> = []
    /// The erasures behind the floor, in order.
    private var erasures: Deque<(position: Int64, id: EventID)> = []
    /// The number of the first entry. The next one has the next number.
    private var firstNumber = 0
    /// The number of the last change in each cell. It may be that of a change that the ring has forgotten.
    private var heads: [GridCell: Int] = [:]
    private let limit: Int

    init(at position: Int64, limit: Int = Self.limit) {
        (floor, through) = (position, position)
        self.limit = limit
        // A growing deque would take up to twice the memory, and copy all changes. Memory that was never used is not resident.
        entries.reserveCapacity(limit + 1)
    }

    var count: Int { entries.count }

    mutating func append(_ change: EventChange) {
        guard !change.isErasure else {
            erased.insert(change.id)
            erasures.append((change.position, change.id))
            through = change.position
            if erasures.count > Self.erasureLimit, let oldest = erasures.popFirst() { floor = max(floor, oldest.position) }
            return
        }
        let number = firstNumber + entries.count
        var entry = Entry(position: change.position, id: change.id, before: change.before, after: change.after)
        let (before, after) = (Self.cell(of: change.before), Self.cell(of: change.after))
        if let before { entry.previousBefore = heads.updateValue(number, forKey: before) ?? -1 }
        if let after, after != before { entry.previousAfter = heads.updateValue(number, forKey: after) ?? -1 }
        entries.append(entry)
        through = change.position
        while entries.count > limit, let oldest = entries.popFirst() {
            firstNumber += 1
            floor = oldest.position
        }
        while let first = erasures.first, first.position <= floor { erasures.removeFirst() }
    }

    /// Forgets where erased events took place. It reads all changes, so that it is called once for many erasures.
    mutating func forgetErased() {
        guard !erased.isEmpty else { return }
        let numbers = Set(entries.indices.filter { erased.contains(entries[$0].id) }.map { $0 + firstNumber })
        erased = []
        guard !numbers.isEmpty else { return }
        /// The last change in a cell that is not forgotten.
        func kept(_ number: Int, in cell: GridCell?) -> Int {
            var number = number
            while number >= firstNumber, numbers.contains(number) {
                let entry = entries[number - firstNumber]
                number = Self.cell(of: entry.before) == cell ? entry.previousBefore : entry.previousAfter
            }
            return number
        }
        for index in entries.indices {
            let entry = entries[index]
            if numbers.contains(entry.previousBefore) {
                entries[index].previousBefore = kept(entry.previousBefore, in: Self.cell(of: entry.before))
            }
            if numbers.contains(entry.previousAfter) {
                entries[index].previousAfter = kept(entry.previousAfter, in: Self.cell(of: entry.after))
            }
        }
        for number in numbers {
            let entry = entries[number - firstNumber]
            for cell in [Self.cell(of: entry.before), Self.cell(of: entry.after)].compactMap(\.self) where heads[cell] == number {
                let last = kept(number, in: cell)
                heads[cell] = last < firstNumber ? nil : last
            }
        }
        for number in numbers {
            entries[number - firstNumber].before = nil
            entries[number - firstNumber].after = nil
        }
    }

    /// The log has no further change up to this position.
    mutating func reached(_ position: Int64) { through = max(through, position) }

    /// The changes after a position that concern the lists with an area and a filter, in order; `nil` if the ring does not have all of
    /// them any longer, or if more must be read than the limits allow.
    func missed(after position: Int64, in area: ChangeArea, _ filter: ChangeFilter) -> [Missed]? {
        guard position >= floor, let numbers = numbers(after: position, in: area) else { return nil }
        let changes = numbers.compactMap { number -> Missed? in
            let entry = entries[number - firstNumber]
            guard !erased.contains(entry.id) else { return nil }
            let (before, after) = (entry.before.map(filter.shows) == true, entry.after.map(filter.shows) == true)
            return before || after ? Missed(position: entry.position, id: entry.id, before: before, after: after) : nil
        }
        let gone = erasures.reversed().prefix { $0.position > position }.map {
            Missed(position: $0.position, id: $0.id, before: true, after: false)
        }
        guard !gone.isEmpty else { return changes }
        return (changes + gone).sorted { $0.position < $1.position }
    }

    /// The numbers of all changes after a position, or of those in the cells of an area.
    private func numbers(after position: Int64, in area: ChangeArea) -> [Int]? {
        let missed = firstIndex(after: position)..<entries.endIndex
        guard missed.count > Self.visitLimit else { return missed.map { $0 + firstNumber } }
        guard let cells = GridCell.cells(of: area, level: Self.cellLevel, limit: Self.cellLimit) else { return nil }
        let first = firstNumber + missed.lowerBound
        var numbers: Set<Int> = []
        for cell in cells {
            var number = heads[cell] ?? -1
            while number >= first {
                // A change may be in two of the cells.
                guard numbers.count < Self.visitLimit else { return nil }
                numbers.insert(number)
                let entry = entries[number - firstNumber]
                number = Self.cell(of: entry.before) == cell ? entry.previousBefore : entry.previousAfter
            }
        }
        return numbers.sorted()
    }

    private func firstIndex(after position: Int64) -> Int {
        var (low, high) = (entries.startIndex, entries.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func cell(of place: EventPlace?) -> GridCell? {
        place.map { GridCell(level: cellLevel, $0.coordinates) }
    }
}

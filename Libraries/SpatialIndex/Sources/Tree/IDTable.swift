/// The cell of each point, by id. It takes 8 bytes a point if ids come from a sequence, which fills the pages.
///
/// `@unchecked`: one thread writes the blocks before any other thread sees them; then they never change.
struct IDTable: @unchecked Sendable {
    typealias Change = (id: Int64, cell: OctreeCell)
    private typealias Page = UnsafeMutablePointer<OctreeCell>
    private typealias Volume = UnsafeMutablePointer<Page?>

    /// Log₂ of the number of ids in a page, and of the number of pages in a volume. A change copies one page and one volume.
    private static let bitsOfPage: Int64 = 8
    private static let bitsOfVolume: Int64 = 8

    private var volumes: [Int64: Volume] = [:]

    subscript(id: Int64) -> OctreeCell? {
        guard let page = volumes[Self.volume(id)]?[Self.pageInVolume(id)] else { return nil }
        let cell = page[Self.slot(id)]
        return cell == .none ? nil : cell
    }

    /// - Parameter changes: ordered by id, each id once; ``OctreeCell/none`` removes an id
    mutating func apply(_ changes: ArraySlice<Change>, _ blocks: inout RetiredBlocks) {
        var rest = changes
        while let number = rest.first.map({ Self.volume($0.id) }) {
            let own = rest.prefix { Self.volume($0.id) == number }
            rest = rest[own.endIndex...]
            volumes[number] = Self.volume(volumes[number], after: own, &blocks)
        }
    }

    /// Calls a closure with the ids after an id and their cells, in the order of the ids, until it returns false.
    /// - Parameter after: nil begins with the first id
    /// - Returns: whether the closure got all of these ids
    func forEach(after: Int64?, _ body: (Int64, OctreeCell) -> Bool) -> Bool {
        guard after != .max else { return true }
        let first = after.map { $0 + 1 } ?? .min
        for number in volumes.keys.sorted() where number >= Self.volume(first) {
            guard let volume = volumes[number] else { continue }
            let firstPage = number == Self.volume(first) ? Self.pageInVolume(first) : 0
            for index in firstPage..<Self.pagesOfVolume {
                guard let page = volume[index] else { continue }
                let start = (number << Self.bitsOfVolume + Int64(index)) << Self.bitsOfPage
                for slot in (start < first ? Self.slot(first) : 0)..<Self.idsOfPage where page[slot] != .none {
                    if !body(start + Int64(slot), page[slot]) { return false }
                }
            }
        }
        return true
    }

    /// Retires all blocks.
    func retire(_ blocks: inout RetiredBlocks) {
        for volume in volumes.values {
            for page in UnsafeMutableBufferPointer(start: volume, count: Self.pagesOfVolume) {
                if let page { Self.retire(page, Self.idsOfPage, &blocks) }
            }
            Self.retire(volume, Self.pagesOfVolume, &blocks)
        }
    }

    /// Bytes of the dictionary of volumes. Pages and volumes are counted as blocks.
    var bytes: Int { volumes.capacity * 24 }

    private static func volume(_ old: Volume?, after changes: ArraySlice<Change>, _ blocks: inout RetiredBlocks) -> Volume? {
        let volume = copy(of: old, pagesOfVolume, filledWith: nil, &blocks)
        var rest = changes
        while let number = rest.first.map({ pageInVolume($0.id) }) {
            let own = rest.prefix { pageInVolume($0.id) == number }
            rest = rest[own.endIndex...]
            let page = copy(of: volume[number], idsOfPage, filledWith: .none, &blocks)
            for change in own { page[slot(change.id)] = change.cell }
            let isEmpty = (0..<idsOfPage).allSatisfy { page[$0] == .none }
            if isEmpty { retire(page, idsOfPage, &blocks) }
            volume[number] = isEmpty ? nil : page
        }
        guard (0..<pagesOfVolume).allSatisfy({ volume[$0] == nil }) else { return volume }
        retire(volume, pagesOfVolume, &blocks)
        return nil
    }

    /// Copies a block, or makes a new one, and retires the old one.
    private static func copy<Value: BitwiseCopyable>(
        of old: UnsafeMutablePointer<Value>?, _ count: Int, filledWith absent: Value, _ blocks: inout RetiredBlocks
    ) -> UnsafeMutablePointer<Value> {
        let new = blocks.allocate(count * MemoryLayout<Value>.stride).bindMemory(to: Value.self, capacity: count)
        guard let old else {
            new.initialize(repeating: absent, count: count)
            return new
        }
        new.initialize(from: old, count: count)
        retire(old, count, &blocks)
        return new
    }

    private static func retire<Value>(_ block: UnsafeMutablePointer<Value>, _ count: Int, _ blocks: inout RetiredBlocks) {
        blocks.replace(UnsafeMutableRawPointer(block), count * MemoryLayout<Value>.stride)
    }

    private static let idsOfPage = 1 << Int(bitsOfPage)
    private static let pagesOfVolume = 1 << Int(bitsOfVolume)

    private static func volume(_ id: Int64) -> Int64 { id >> (bitsOfPage + bitsOfVolume) }
    private static func pageInVolume(_ id: Int64) -> Int { Int(id >> bitsOfPage) & (pagesOfVolume - 1) }
    private static func slot(_ id: Int64) -> Int { Int(id) & (idsOfPage - 1) }
}

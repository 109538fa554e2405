/// In which cell an event is, by id: 8 bytes an event, since ids are of a sequence and the pages therefore full.
///
/// `@unchecked`: the blocks are written before anybody else sees them, and then no more.
struct IDTable: @unchecked Sendable {
    typealias Change = (id: Int64, cell: OctreeCell)
    private typealias Page = UnsafeMutablePointer<OctreeCell>
    private typealias Volume = UnsafeMutablePointer<Page?>

    /// The ids of a page, and the pages of a volume, which a change copies both.
    private static let bitsOfPage: Int64 = 8
    private static let bitsOfVolume: Int64 = 8

    private var volumes: [Int64: Volume] = [:]

    subscript(id: Int64) -> OctreeCell? {
        guard let page = volumes[Self.volume(id)]?[Self.pageInVolume(id)] else { return nil }
        let cell = page[Self.slot(id)]
        return cell == .none ? nil : cell
    }

    /// - Parameter changes: by id, each once; ``OctreeCell/none`` where the event is no more
    mutating func apply(_ changes: ArraySlice<Change>, _ retiredBlocks: inout RetiredBlocks) {
        var rest = changes
        while let number = rest.first.map({ Self.volume($0.id) }) {
            let own = rest.prefix { Self.volume($0.id) == number }
            rest = rest[own.endIndex...]
            volumes[number] = Self.volume(volumes[number], after: own, &retiredBlocks)
        }
    }

    /// Gives all blocks back.
    func retire(_ retiredBlocks: inout RetiredBlocks) {
        for volume in volumes.values {
            for page in UnsafeMutableBufferPointer(start: volume, count: Self.pagesOfVolume) {
                if let page { Self.retire(page, Self.idsOfPage, &retiredBlocks) }
            }
            Self.retire(volume, Self.pagesOfVolume, &retiredBlocks)
        }
    }

    /// Of what finds the volumes; the blocks are in the retiredBlocks.
    var bytes: Int { volumes.capacity * 24 }

    private static func volume(_ old: Volume?, after changes: ArraySlice<Change>, _ retiredBlocks: inout RetiredBlocks) -> Volume?
    {
        let volume = copy(of: old, pagesOfVolume, filledWith: nil, &retiredBlocks)
        var rest = changes
        while let number = rest.first.map({ pageInVolume($0.id) }) {
            let own = rest.prefix { pageInVolume($0.id) == number }
            rest = rest[own.endIndex...]
            let page = copy(of: volume[number], idsOfPage, filledWith: .none, &retiredBlocks)
            for change in own { page[slot(change.id)] = change.cell }
            let isEmpty = (0..<idsOfPage).allSatisfy { page[$0] == .none }
            if isEmpty { retire(page, idsOfPage, &retiredBlocks) }
            volume[number] = isEmpty ? nil : page
        }
        guard (0..<pagesOfVolume).allSatisfy({ volume[$0] == nil }) else { return volume }
        retire(volume, pagesOfVolume, &retiredBlocks)
        return nil
    }

    /// Retires what it copies.
    private static func copy<Value: BitwiseCopyable>(
        of old: UnsafeMutablePointer<Value>?, _ count: Int, filledWith absent: Value, _ retiredBlocks: inout RetiredBlocks
    ) -> UnsafeMutablePointer<Value> {
        let new = retiredBlocks.allocate(count * MemoryLayout<Value>.stride).bindMemory(to: Value.self, capacity: count)
        guard let old else {
            new.initialize(repeating: absent, count: count)
            return new
        }
        new.initialize(from: old, count: count)
        retire(old, count, &retiredBlocks)
        return new
    }

    private static func retire<Value>(_ block: UnsafeMutablePointer<Value>, _ count: Int, _ retiredBlocks: inout RetiredBlocks) {
        retiredBlocks.replace(UnsafeMutableRawPointer(block), count * MemoryLayout<Value>.stride)
    }

    private static let idsOfPage = 1 << Int(bitsOfPage)
    private static let pagesOfVolume = 1 << Int(bitsOfVolume)

    private static func volume(_ id: Int64) -> Int64 { id >> (bitsOfPage + bitsOfVolume) }
    private static func pageInVolume(_ id: Int64) -> Int { Int(id >> bitsOfPage) & (pagesOfVolume - 1) }
    private static func slot(_ id: Int64) -> Int { Int(id) & (idsOfPage - 1) }
}

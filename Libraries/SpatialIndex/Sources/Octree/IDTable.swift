/// The cell of each point, by id. It takes 8 bytes a point if ids come from a sequence, which fills the pages.
struct IDTable: Sendable {
    typealias Change = (id: Int64, cell: OctreeCell)
    /// ``OctreeCell/none`` for an id that is not in the table.
    private typealias Page = Column<OctreeCell>
    /// The blocks of the pages.
    private typealias Volume = Column<Block?>

    /// Log₂ of the number of ids in a page, and of the number of pages in a volume. A change copies one page and one volume.
    private static let bitsOfPage: Int64 = 8
    private static let bitsOfVolume: Int64 = 8

    private var volumes: [Int64: Block] = [:]

    subscript(id: Int64) -> OctreeCell? {
        guard let volume = volumes[Self.volume(id)], let page = Self.pages(of: volume)[Self.pageInVolume(id)] else { return nil }
        let cell = Self.cells(of: page)[Self.slot(id)]
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
            guard let volume = volumes[number].map(Self.pages) else { continue }
            let firstPage = number == Self.volume(first) ? Self.pageInVolume(first) : 0
            for index in firstPage..<Self.pagesOfVolume {
                guard let page = volume[index].map(Self.cells) else { continue }
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
            let pages = Self.pages(of: volume)
            for index in 0..<Self.pagesOfVolume {
                if let page = pages[index] { blocks.replace(page, Self.bytesOfPage) }
            }
            blocks.replace(volume, Self.bytesOfVolume)
        }
    }

    /// Bytes of the dictionary of volumes. Pages and volumes are counted as blocks.
    var bytes: Int { volumes.capacity * 24 }

    private static func volume(_ old: Block?, after changes: ArraySlice<Change>, _ blocks: inout RetiredBlocks) -> Block? {
        let volume = blocks.copy(of: old, bytesOfVolume)
        let pages = pages(of: volume)
        if old == nil { pages.fill(with: nil) }
        var rest = changes
        while let number = rest.first.map({ pageInVolume($0.id) }) {
            let own = rest.prefix { pageInVolume($0.id) == number }
            rest = rest[own.endIndex...]
            let oldPage = pages[number]
            let page = blocks.copy(of: oldPage, bytesOfPage)
            let cells = cells(of: page)
            if oldPage == nil { cells.fill(with: .none) }
            for change in own { cells[slot(change.id)] = change.cell }
            let isEmpty = (0..<idsOfPage).allSatisfy { cells[$0] == .none }
            if isEmpty { blocks.replace(page, bytesOfPage) }
            pages[number] = isEmpty ? nil : page
        }
        guard (0..<pagesOfVolume).allSatisfy({ pages[$0] == nil }) else { return volume }
        blocks.replace(volume, bytesOfVolume)
        return nil
    }

    private static func pages(of volume: Block) -> Volume { volume.column(count: pagesOfVolume) }
    private static func cells(of page: Block) -> Page { page.column(count: idsOfPage) }

    private static let bytesOfPage = idsOfPage * MemoryLayout<OctreeCell>.stride
    private static let bytesOfVolume = pagesOfVolume * MemoryLayout<Block?>.stride
    private static let idsOfPage = 1 << Int(bitsOfPage)
    private static let pagesOfVolume = 1 << Int(bitsOfVolume)

    private static func volume(_ id: Int64) -> Int64 { id >> (bitsOfPage + bitsOfVolume) }
    private static func pageInVolume(_ id: Int64) -> Int { Int(id >> bitsOfPage) & (pagesOfVolume - 1) }
    private static func slot(_ id: Int64) -> Int { Int(id) & (idsOfPage - 1) }
}

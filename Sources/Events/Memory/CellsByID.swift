/// In which cell an event is, by id: 8 bytes an event, since ids are of a sequence and the pages therefore full.
struct CellsByID: Sendable {
    private static let bitsOfPage: Int64 = 11
    private static let idsPerPage = 1 << Int(bitsOfPage)
    private static let absent = OctreeCell.none

    private var pages: [Int64: [OctreeCell]] = [:]

    subscript(id: Int64) -> OctreeCell? {
        get {
            guard let cell = pages[id >> Self.bitsOfPage]?[Self.slot(id)], cell != Self.absent else { return nil }
            return cell
        }
        set {
            let page = id >> Self.bitsOfPage
            guard let newValue else {
                pages[page]?[Self.slot(id)] = Self.absent
                if pages[page]?.allSatisfy({ $0 == Self.absent }) == true { pages[page] = nil }
                return
            }
            pages[page, default: Array(repeating: Self.absent, count: Self.idsPerPage)][Self.slot(id)] = newValue
        }
    }

    /// With the head of a page and the allocator's share, and the page's place in the dictionary.
    var bytes: Int { pages.count * (Self.idsPerPage * MemoryLayout<OctreeCell>.size + 48) + pages.capacity * 24 }

    private static func slot(_ id: Int64) -> Int { Int(id) & (idsPerPage - 1) }
}

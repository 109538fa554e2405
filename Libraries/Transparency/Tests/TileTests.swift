import TestChance
import Testing

@testable import Transparency

@Suite struct `Paths of tiles` {
    @Test(arguments: [
        ("tile/0/000", Tile(level: 0, index: 0)),
        ("tile/0/x001/x234/067", Tile(level: 0, index: 1_234_067)),
        ("tile/63/999", Tile(level: 63, index: 999)),
        ("tile/1/x001/000.p/17", Tile(level: 1, index: 1_000, width: 17)),
        ("tile/entries/000", Tile(level: nil, index: 0)),
        ("tile/entries/x001/x234/067.p/255", Tile(level: nil, index: 1_234_067, width: 255)),
    ])
    func `a tile has its path, and the path its tile`(path: String, tile: Tile) {
        #expect(tile.path == path)
        #expect(Tile(path: path) == tile)
    }

    @Test(arguments: [
        "", "/", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000/001",
        "tile/0/001/002",
        "tile/0/x001", "tile/00/000", "tile/64/000", "tile/-1/000", "tile/+1/000", "tile/0/000.p", "tile/0/000.p/",
        "tile/0/000.p/0",
        "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000/5", "tile/0/x001.p/5", "tile/0/../checkpoint", "tile/0/..",
        "../checkpoint",
        "checkpoint/", "/checkpoint", "Checkpoint", "tile//0/000", "tile/0/+01", "tile/0/-01", "tile/0/x-01/000",
        "tile/entries/000\0", "unfinished/0",
        "tile/0/x001/x000/x000/x000/x000/x000/000", "tile/0/x999/x999/x999/x999/x999/x999/999", "tile/0/٠٠٠", "tile/0/000.p/١",
        "tile/entries/é00", "checkpoint\n",
    ])
    func `every other text is no path`(text: String) { #expect(Tile(path: text) == nil, "\(text)") }

    @Test func `a faulty path is none, or is written as it was read`() {
        var mutations = Mutations(seed: 36)
        for _ in 0..<5_000 {
            let text = mutations.text(of: ["tile/0/x001/x234/067", "tile/entries/000.p/17"])
            if let tile = Tile(path: text) { #expect(tile.path == text) }
        }
    }

    /// Source: C2SP, tlog-tiles, section on partial tiles.
    @Test func `a tree of 70,000 entries has the partial tiles of the specification, and one of 256 has one`() {
        func partial(_ size: Int64) -> [String] { Tile.levels.compactMap { Tile(last: $0, of: size)?.path } }
        #expect(partial(70_000) == ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"])
        #expect(partial(256) == ["tile/1/000.p/1"])
    }
}

import TestChance
import Testing

@testable import Transparency

@Suite struct `Paths of tiles` {
    @Test(arguments: [
        ("tile/0/000", Tile(.hashes(level: 0), index: 0)),
        ("tile/0/x001/x234/067", Tile(.hashes(level: 0), index: 1_234_067)),
        ("tile/63/999", Tile(.hashes(level: 63), index: 999)),
        ("tile/1/x001/000.p/17", Tile(.hashes(level: 1), index: 1_000, width: 17)),
        ("tile/entries/000", Tile(.entries, index: 0)),
        ("tile/entries/x001/x234/067.p/255", Tile(.entries, index: 1_234_067, width: 255)),
    ])
    func `a tile has its path, and the path its tile`(path: String, tile: Tile) {
        #expect(tile.path == path)
        #expect(TreeResource(path: path) == .tile(tile))
        #expect(TreeResource(path: path)?.path == path)
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
    func `every other text is no path`(text: String) { #expect(TreeResource(path: text) == nil, "\(text)") }

    @Test func `a faulty path is none, or is written as it was read`() {
        var mutations = Mutations(seed: 36)
        for _ in 0..<5_000 {
            let text = mutations.text(of: ["tile/0/x001/x234/067", "tile/entries/000.p/17", "checkpoint"])
            if let resource = TreeResource(path: text) { #expect(resource.path == text) }
        }
    }

    /// Source: C2SP, tlog-tiles, section on partial tiles.
    @Test func `a tree of 70,000 entries has the partial tiles of the specification, and one of 256 has one`() {
        func partial(_ size: Int64) -> [String] {
            Tile.levels.compactMap { Tile(last: .hashes(level: $0), of: size)?.path }
        }
        #expect(partial(70_000) == ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"])
        #expect(partial(256) == ["tile/1/000.p/1"])
        #expect(Tile(last: .entries, of: 70_000)?.path == "tile/entries/273.p/112")
        #expect(Tile(last: .entries, of: 512) == nil)
        #expect(Tile(.hashes(level: 1), with: 255, in: 70_000).path == "tile/1/000")
        #expect(Tile(.hashes(level: 1), with: 256, in: 70_000).path == "tile/1/001.p/17")
    }
}

@Suite struct `Bundles of entries` {
    @Test func `entries stand behind their lengths and are found again`() throws {
        var bundle: [UInt8] = []
        let entries: [[UInt8]] = [[7], [], [UInt8](repeating: 9, count: 300), [UInt8](repeating: 8, count: 65_535)]
        for entry in entries { EntryBundle.append(entry, to: &bundle) }
        #expect(bundle.prefix(7) == [0, 1, 7, 0, 0, 1, 44])
        let ranges = try #require(EntryBundle.ranges(in: bundle, count: 4))
        #expect(ranges.map { Array(bundle[$0]) } == entries)
        #expect(EntryBundle.ranges(in: bundle, count: 5) == nil)
        #expect(EntryBundle.ranges(in: Array(bundle.dropLast()), count: 4) == nil)
        #expect(EntryBundle.ranges(in: Array(bundle.dropLast()), count: 3)?.count == 3)
    }
}

import Encoding
import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `A growing Merkle tree` {
    /// Tiles as a store keeps them.
    private static func store(_ leaves: ArraySlice<SHA256.Digest>, batch: Int) -> (TreeGrowth, [Tile: [SHA256.Digest]]) {
        var (tree, tiles, rest) = (TreeGrowth(), [Tile: [SHA256.Digest]](), leaves)
        while !rest.isEmpty {
            for (tile, hashes) in tree.append(rest.prefix(batch)) {
                #expect(hashes.count == tile.width)
                tiles[tile.full] = hashes
            }
            rest = rest.dropFirst(batch)
        }
        return (tree, tiles)
    }

    @Test func `the published entries have their published roots`() {
        #expect(MerkleTree.emptyRoot.hexadecimal == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        var tree = TreeGrowth()
        #expect(tree.root == MerkleTree.emptyRoot)
        for (entry, root) in zip(Vectors.entries, Vectors.roots) {
            tree.append([MerkleTree.leafHash(of: entry)])
            #expect(tree.root.hexadecimal == root)
        }
    }

    @Test(arguments: [1, 7, 256, 600])
    func `batches of any size give the roots and tiles of the recursive definition`(batch: Int) throws {
        let leaves = leaves(600)
        for size in NaiveTree.sizes where batch != 1 || size > 250 || size < 20 {
            let (tree, tiles) = Self.store(leaves[..<size], batch: batch)
            #expect((tree.size, tree.root) == (Int64(size), NaiveTree.root(leaves[..<size])), "\(size)")
            for (tile, hashes) in tiles {
                for (place, hash) in hashes.enumerated() {
                    let leafCount = tile.level == 0 ? 1 : 256
                    let first = (Int(tile.index) * 256 + place) * leafCount
                    #expect(hash == NaiveTree.root(leaves[first..<first + leafCount]))
                }
            }
            #expect(tiles.count == (size + 255) / 256 + (size >= 256 ? 1 : 0))
            // The next writer goes on from the tiles.
            #expect(try TreeGrowth(size: Int64(size)) { tiles[$0] ?? [] } == tree)
        }
    }

    @Test func `a tree does not go on from tiles that lack a hash`() throws {
        let leaves = leaves(300)
        let (_, tiles) = Self.store(leaves[...], batch: 300)
        #expect(throws: ProofError.missingTile(path: "tile/0/001.p/45")) { try TreeGrowth(size: 301) { tiles[$0] ?? [] } }
        // More hashes than the tree has are of a later one.
        #expect(try TreeGrowth(size: 270) { tiles[$0] ?? [] }.root == NaiveTree.root(leaves[..<270]))
    }

    @Test func `proofs from tiles are those of the recursive definition`() throws {
        let leaves = leaves(600)
        let (_, tiles) = Self.store(leaves[...], batch: 600)
        var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
        for size in NaiveTree.sizes {
            for index in Set([0, size / 3, size - 1, Int.random(in: 0..<size, using: &generator)]) {
                let needed = InclusionProof.tiles(of: Int64(index), in: Int64(size))
                let proof = try InclusionProof(of: Int64(index), in: Int64(size)) { tile in
                    needed.contains(tile) ? tiles[tile] ?? [] : []
                }
                #expect(proof.hashes == NaiveTree.path(index, leaves[..<size]), "\(index) in \(size)")
            }
        }
        for (index, size) in [(300, 300), (-1, 300), (0, 0)] as [(Int64, Int64)] {
            #expect(throws: ProofError.outsideOfTree(index: index, size: size)) {
                try InclusionProof(of: index, in: size) { tiles[$0] ?? [] }
            }
        }
        #expect(throws: ProofError.missingTile(path: "tile/0/001")) { try InclusionProof(of: 1, in: 300) { _ in [] } }
    }

    @Test func `every entry near an edge of a tree of three levels of tiles is proven`() throws {
        let leaves = leaves(65_536 + 300)
        let (tree, tiles) = Self.store(leaves[...], batch: 10_000)
        #expect(tiles[Tile(level: 2, index: 0)]?.count == 1)
        #expect(tiles[Tile(level: 1, index: 1)]?.count == 1)
        for index in [0, 255, 256, 65_279, 65_280, 65_535, 65_536, 65_791, 65_792, leaves.count - 1] {
            let needed = InclusionProof.tiles(of: Int64(index), in: tree.size)
            #expect(needed.count <= 6)
            let proof = try InclusionProof(of: Int64(index), in: tree.size) { needed.contains($0) ? tiles[$0] ?? [] : [] }
            try proof.verify(leaf: leaves[index], root: tree.root)
        }
    }
}

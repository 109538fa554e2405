import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `Verifying proofs` {
    @Test func `the published inclusion proofs hold`() throws {
        for (index, size, hashes) in Vectors.inclusion {
            let proof = InclusionProof(index: index, size: size, hashes: hashes.compactMap(digest))
            let root = try #require(digest(Vectors.roots[Int(size) - 1]))
            try proof.verify(leaf: MerkleTree.leafHash(of: Vectors.entries[Int(index)]), root: root)
        }
    }

    @Test func `inclusion proofs of the recursive definition hold, and with one change do not`() throws {
        let leaves = leaves(300)
        var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
        for size in NaiveTree.sizes where size <= leaves.count {
            let root = NaiveTree.root(leaves[..<size])
            for index in Set([0, size / 2, size - 1, Int.random(in: 0..<size, using: &generator)]) {
                let hashes = NaiveTree.path(index, leaves[..<size])
                let proof = InclusionProof(index: Int64(index), size: Int64(size), hashes: hashes)
                try proof.verify(leaf: leaves[index], root: root)
                for wrong in Self.changed(proof) {
                    #expect(throws: ProofError.self, "\(wrong)") { try wrong.verify(leaf: leaves[index], root: root) }
                }
                #expect(throws: ProofError.self) { try proof.verify(leaf: leaves[(index + 1) % 300], root: root) }
            }
        }
    }

    /// A proof of another size of the tree may hold: the sizes 5 and 6 have the same way from the first leaf to the root.
    private static func changed(_ proof: InclusionProof) -> [InclusionProof] {
        let other = SHA256.hash("other".utf8)
        var changed = [proof, proof, proof, proof, proof]
        changed[0].index += 1
        changed[1].index -= 1
        changed[2].hashes.append(other)
        changed[3].hashes.insert(other, at: 0)
        changed[4].size = proof.index
        for place in proof.hashes.indices {
            changed.append(proof)
            changed[changed.count - 1].hashes[place] = other
            changed.append(proof)
            changed[changed.count - 1].hashes.remove(at: place)
        }
        return changed
    }

    @Test(arguments: [(0, 0), (1, 1), (-1, 1), (5, Int64.min), (0, Int64.max), (Int64.max, Int64.max)] as [(Int64, Int64)])
    func `an index outside of the tree or a size beyond all trees is refused`(index: Int64, size: Int64) {
        let hash = SHA256.hash("a".utf8)
        #expect(throws: ProofError.outsideOfTree(index: index, size: size)) {
            try InclusionProof(index: index, size: size, hashes: []).verify(leaf: hash, root: hash)
        }
    }
}

import Encoding
import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `The Merkle tree of RFC 6962` {
    @Test func `the published entries have their published roots`() {
        #expect(MerkleTree.emptyRoot.hexadecimal == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        var tree = TreeFrontier()
        #expect(tree.root == MerkleTree.emptyRoot)
        for (entry, root) in zip(Vectors.entries, Vectors.roots) {
            tree.append(MerkleTree.leafHash(of: entry))
            #expect(tree.root.hexadecimal == root)
        }
    }

    @Test func `an entry in a longer array has the same leaf hash`() {
        let bytes = Array("one two".utf8)
        #expect(bytes.withRawSpan(of: 4..<7) { MerkleTree.leafHash(of: $0) } == MerkleTree.leafHash(of: "two".utf8))
    }

    @Test func `a growing tree has the roots of the recursive definition`() {
        let leaves = leaves(600)
        var tree = TreeFrontier()
        for size in 1...leaves.count {
            tree.append(leaves[size - 1])
            #expect(tree.size == size)
            if NaiveTree.sizes.contains(size) { #expect(tree.root == NaiveTree.root(leaves[..<size]), "\(size)") }
        }
    }
}

@Suite struct `Verifying proofs` {
    @Test func `the published inclusion proofs hold`() throws {
        for (index, size, hashes) in Vectors.inclusion {
            let proof = InclusionProof(index: index, size: size, hashes: hashes.compactMap(digest))
            let root = try #require(digest(Vectors.roots[Int(size) - 1]))
            try proof.verify(leaf: MerkleTree.leafHash(of: Vectors.entries[Int(index)]), root: root)
        }
    }

    @Test func `the published consistency proofs hold`() throws {
        for (oldSize, newSize, hashes) in Vectors.consistency {
            let (old, new) = (digest(Vectors.roots[Int(oldSize) - 1]), digest(Vectors.roots[Int(newSize) - 1]))
            let proof = ConsistencyProof(oldSize: oldSize, newSize: newSize, hashes: hashes.compactMap(digest))
            try proof.verify(oldRoot: try #require(old), newRoot: try #require(new))
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

    @Test func `consistency proofs of the recursive definition hold, and with one change do not`() throws {
        let leaves = leaves(300)
        var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
        for newSize in NaiveTree.sizes where newSize <= leaves.count {
            let newRoot = NaiveTree.root(leaves[..<newSize])
            let any = Int.random(in: 1...newSize, using: &generator)
            for oldSize in Set([1, newSize / 2, newSize - 1, newSize, any]).subtracting([0]) {
                let oldRoot = NaiveTree.root(leaves[..<oldSize])
                let proof = ConsistencyProof(
                    oldSize: Int64(oldSize), newSize: Int64(newSize), hashes: NaiveTree.proof(oldSize, leaves[..<newSize]))
                try proof.verify(oldRoot: oldRoot, newRoot: newRoot)
                let other = SHA256.hash("other".utf8)
                #expect(throws: ProofError.self) { try proof.verify(oldRoot: other, newRoot: newRoot) }
                #expect(throws: ProofError.self) { try proof.verify(oldRoot: oldRoot, newRoot: other) }
                for place in proof.hashes.indices {
                    var wrong = proof
                    wrong.hashes[place] = other
                    #expect(throws: ProofError.self) { try wrong.verify(oldRoot: oldRoot, newRoot: newRoot) }
                    wrong.hashes.remove(at: place)
                    #expect(throws: ProofError.self) { try wrong.verify(oldRoot: oldRoot, newRoot: newRoot) }
                }
                var wrong = proof
                wrong.hashes.append(other)
                #expect(throws: ProofError.self) { try wrong.verify(oldRoot: oldRoot, newRoot: newRoot) }
            }
        }
    }

    @Test func `every tree is consistent with the empty one, and no tree with a larger one`() throws {
        let (empty, root) = (MerkleTree.emptyRoot, SHA256.hash("a".utf8))
        try ConsistencyProof(oldSize: 0, newSize: 5, hashes: []).verify(oldRoot: empty, newRoot: root)
        #expect(throws: ProofError.rootDiffers(size: 0, expected: root, computed: empty)) {
            try ConsistencyProof(oldSize: 0, newSize: 5, hashes: []).verify(oldRoot: root, newRoot: root)
        }
        #expect(throws: ProofError.shrinks(oldSize: 6, newSize: 5)) {
            try ConsistencyProof(oldSize: 6, newSize: 5, hashes: []).verify(oldRoot: root, newRoot: root)
        }
        #expect(throws: ProofError.tooManyHashes) {
            try ConsistencyProof(oldSize: 5, newSize: 5, hashes: [root]).verify(oldRoot: root, newRoot: root)
        }
    }

    @Test(arguments: [(0, 0), (1, 1), (-1, 1), (5, Int64.min), (0, Int64.max), (Int64.max, Int64.max)] as [(Int64, Int64)])
    func `an index outside of the tree or a size beyond all trees is refused`(index: Int64, size: Int64) {
        let hash = SHA256.hash("a".utf8)
        #expect(throws: ProofError.outsideOfTree(index: index, size: size)) {
            try InclusionProof(index: index, size: size, hashes: []).verify(leaf: hash, root: hash)
        }
    }
}

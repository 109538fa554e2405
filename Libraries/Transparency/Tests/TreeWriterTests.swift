import Foundation
import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `Writing a tree` {
    private let key: SigningKey
    private let scratch: ScratchDirectory

    init() throws {
        key = try SigningKey.random(name: "example.org/log")
        scratch = try ScratchDirectory()
    }

    private func tree() throws -> PublishedTree {
        try #require(try PublishedTree(scratch.open(), signedBy: key.verifierKey))
    }

    @Test func `a new directory gets a checkpoint of no entries`() throws {
        #expect(try PublishedTree(scratch.open(), signedBy: key.verifierKey) == nil)
        let writer = try TreeWriter(scratch.open(), key: key)
        #expect(writer.checkpoint.size == 0)
        #expect(try tree().checkpoint.root == MerkleTree.emptyRoot)
        #expect(try scratch.files() == ["checkpoint"])
    }

    @Test func `batches of any size publish the roots of the recursive definition, and every entry`() throws {
        let leaves = leaves(1_200)
        var writer = try TreeWriter(scratch.open(), key: key)
        var size = 0
        for count in [1, 1, 0, 3, 250, 1, 1, 255, 256, 300, 44] {
            let checkpoint = try writer.append(entries(size..<size + count), at: Int64(size))
            size += count
            #expect(checkpoint == (try tree().checkpoint))
            #expect(checkpoint.size == size)
            #expect(checkpoint.root == NaiveTree.root(leaves[..<size]))
            #expect(try tree().firstDifference() == nil)
        }
        let tree = try tree()
        for index in 0..<size { #expect(try tree.entry(at: Int64(index)) == Array(String(index).utf8)) }
        #expect(try tree.leafHashes(from: 256) == Array(leaves[256..<512]))
        #expect(throws: TreeError.outsideOfTree(place: Int64(size), size: Int64(size))) { try tree.entry(at: Int64(size)) }
    }

    @Test func `the files are those of the specification, and partial tiles go when the full one is there`() throws {
        var writer = try TreeWriter(scratch.open(), key: key)
        try writer.append(entries(0..<3), at: 0)
        try writer.append(entries(3..<5), at: 3)
        #expect(
            try scratch.files() == [
                "checkpoint", "tile/0/000.p/3", "tile/0/000.p/5", "tile/entries/000.p/3", "tile/entries/000.p/5",
            ])
        try writer.append(entries(5..<520), at: 5)
        #expect(
            try scratch.files() == [
                "checkpoint", "tile/0/000", "tile/0/001", "tile/0/002.p/8", "tile/1/000.p/2",
                "tile/entries/000", "tile/entries/001", "tile/entries/002.p/8",
            ])
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("tile/0/000"))).count == 8_192)
    }

    @Test func `a tree of three levels of tiles is proven and read again by the next writer`() throws {
        let count = 65_536 + 300
        var writer = try TreeWriter(scratch.open(), key: key)
        for start in stride(from: 0, to: count, by: 16_384) {
            try writer.append(entries(start..<min(start + 16_384, count)), at: Int64(start))
        }
        _ = consume writer
        var tree = TreeFrontier()
        for leaf in leaves(count) { tree.append(leaf) }
        #expect(try self.tree().checkpoint.root == tree.root)
        #expect(
            try Set(scratch.files()).isSuperset(of: [
                "tile/1/000", "tile/2/000.p/1", "tile/1/001.p/1", "tile/0/256", "tile/0/257.p/44",
            ]))
        for index in [0, 255, 256, 65_535, 65_536, Int64(count) - 1] {
            try self.tree().proof(of: index).verify(with: key.verifierKey)
        }
        var next = try TreeWriter(scratch.open(), key: key)
        tree.append(MerkleTree.leafHash(of: "last".utf8))
        #expect(try next.append([Array("last".utf8)], at: Int64(count)).root == tree.root)
        #expect(try self.tree().firstDifference() == nil)
    }

    @Test func `a second writer waits for nothing and is refused, until the first one is gone`() throws {
        let first = try TreeWriter(scratch.open(), key: key)
        #expect(throws: TreeError.inUse(path: scratch.path + "/tree")) { _ = try TreeWriter(scratch.open(), key: key) }
        _ = consume first
        _ = try TreeWriter(scratch.open(), key: key)
    }

    @Test func `entries at another index and entries that are too long are refused, and change nothing`() throws {
        var writer = try TreeWriter(scratch.open(), key: key)
        try writer.append(entries(0..<3), at: 0)
        var error: TreeError?
        do throws(TreeError) { try writer.append(entries(0..<3), at: 0) } catch let caught { error = caught }
        #expect(error == .notNext(expected: 3, found: 0))
        do throws(TreeError) { try writer.append([[1], [UInt8](repeating: 0, count: 65_536)], at: 3) } catch let caught {
            error = caught
        }
        #expect(error == .entryTooLong(index: 4, bytes: 65_536))
        #expect(try tree().checkpoint.size == 3)
        #expect(try writer.append([[UInt8](repeating: 0, count: 65_535)], at: 3).size == 4)
    }

    @Test func `a key of another log, or another key of this log, gets no writer`() throws {
        _ = try TreeWriter(scratch.open(), key: key)
        for other in ["example.org/log", "example.com/log"] {
            let error = #expect(throws: TreeError.self) {
                _ = try TreeWriter(scratch.open(), key: try SigningKey.random(name: other))
            }
            guard case .checkpoint(.unsigned) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: ["tile/0/000.p/5", "tile/entries/000.p/5"])
    func `a writer does not continue a tree whose right edge was changed`(file: String) throws {
        var writer = try TreeWriter(scratch.open(), key: key)
        try writer.append(entries(0..<5), at: 0)
        _ = consume writer
        try change(file)
        #expect(throws: TreeError.self) { _ = try TreeWriter(scratch.open(), key: key) }
    }

    @Test func `a change of any file is found, with its place`() throws {
        var writer = try TreeWriter(scratch.open(), key: key)
        try writer.append(entries(0..<600), at: 0)
        #expect(try tree().firstDifference() == nil)
        try change("tile/entries/001", at: 2)
        #expect(try tree().firstDifference() == .entry(index: 256))
        try change("tile/entries/001", at: 2)
        try change("tile/1/000.p/2")
        #expect(try tree().firstDifference() == .tile(path: "tile/1/000.p/2"))
        try change("tile/1/000.p/2")
        try change("tile/0/002.p/88", at: 32 * 50)
        #expect(try tree().firstDifference() == .entry(index: 562))
        try change("tile/0/002.p/88", at: 32 * 50)
        #expect(try tree().firstDifference() == nil)
        try FileManager.default.removeItem(atPath: scratch.file("tile/0/001"))
        #expect(throws: TreeError.missing(path: "tile/0/001")) { try tree().firstDifference() }
    }

    private func change(_ file: String, at place: Int = 0) throws {
        let url = URL(fileURLWithPath: scratch.file(file))
        var bytes = try Data(contentsOf: url)
        bytes[place] ^= 1
        try bytes.write(to: url)
    }
}

@Suite struct `Proofs from tiles` {
    @Test func `the proofs are those of the recursive definition`() throws {
        let (key, scratch, leaves) = (try SigningKey.random(name: "example.org/log"), try ScratchDirectory(), leaves(300))
        var writer = try TreeWriter(scratch.open(), key: key)
        try writer.append(entries(0..<300), at: 0)
        let tree = try #require(try PublishedTree(scratch.open(), signedBy: key.verifierKey))
        #expect(try tree.root(at: 0) == MerkleTree.emptyRoot)
        var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
        for size in NaiveTree.sizes where size <= 300 {
            #expect(try tree.root(at: Int64(size)) == NaiveTree.root(leaves[..<size]))
            for place in Set([0, size / 3, size - 1, Int.random(in: 0..<size, using: &generator)]) {
                let path = try tree.inclusionProof(of: Int64(place), in: Int64(size))
                #expect(path.hashes == NaiveTree.path(place, leaves[..<size]), "\(place) in \(size)")
                let proof = try tree.consistencyProof(from: Int64(place), to: Int64(size))
                #expect(proof.hashes == (place == 0 ? [] : NaiveTree.proof(place, leaves[..<size])), "\(place) to \(size)")
            }
            #expect(try tree.consistencyProof(from: Int64(size), to: Int64(size)).hashes == [])
        }
        #expect(throws: TreeError.outsideOfTree(place: 301, size: 300)) { try tree.consistencyProof(from: 1, to: 301) }
        #expect(throws: TreeError.outsideOfTree(place: 9, size: 300)) { try tree.inclusionProof(of: 9, in: 9) }
        #expect(throws: TreeError.outsideOfTree(place: -1, size: 300)) { try tree.consistencyProof(from: -1) }
    }
}

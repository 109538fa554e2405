import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `A proof in a file` {
    private let key: SigningKey
    private let file: ProofFile

    init() throws {
        key = try SigningKey.random(name: "example.org/log")
        let leaves = leaves(300)
        var tree = TreeGrowth()
        let tiles = Dictionary(tree.append(leaves).map { ($0.tile.full, $0.hashes) }) { $1 }
        let note = Checkpoint(origin: "example.org/log", size: 300, root: tree.root).signed(by: key)
        file = ProofFile(
            entry: Array("42".utf8), path: try InclusionProof(of: 42, in: 300) { tiles[$0] ?? [] }, note: note)
    }

    private var text: String { String(decoding: file.bytes, as: UTF8.self) }

    private func verify(_ text: String) throws(ProofError) { try ProofFile(Array(text.utf8)).verify(with: key.verifierKey) }

    @Test func `a proof is written in the format of the specification and holds when it is read`() throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.prefix(3) == ["c2sp.org/tlog-proof@v1", "extra NDI=", "index 42"])
        let empty = try #require(lines.firstIndex(of: ""))
        #expect(empty == 3 + 9)
        #expect(lines[(empty + 1)...].prefix(2) == ["example.org/log", "300"])
        let read = try ProofFile(file.bytes)
        #expect(read == file)
        #expect(try read.verify(with: key.verifierKey).size == 300)
    }

    @Test func `another entry, index or hash does not have the root of the checkpoint`() throws {
        for (part, other) in [("extra NDI=", "extra NDM="), ("index 42", "index 43")] {
            let error = #expect(throws: ProofError.self) { try verify(text.replacing(part, with: other)) }
            guard case .rootDiffers = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        let hash = file.hashes[4].base64
        #expect(throws: ProofError.self) { try verify(text.replacing(hash, with: SHA256.hash([]).base64)) }
        #expect(throws: ProofError.wrongNumberOfHashes) { try verify(text.replacing(hash + "\n", with: "")) }
        #expect(throws: ProofError.wrongNumberOfHashes) { try verify(text.replacing(hash, with: hash + "\n" + hash)) }
        #expect(throws: ProofError.outsideOfTree(index: 300, size: 300)) {
            try verify(text.replacing("index 42", with: "index 300"))
        }
    }

    @Test func `a changed checkpoint and another key are named`() throws {
        let id = key.verifierKey.shortDescription
        #expect(throws: ProofError.wrongSignature(key: id)) { try verify(text.replacing("\n300\n", with: "\n301\n")) }
        let other = try SigningKey.random(name: "example.org/log").verifierKey
        #expect(throws: ProofError.unsigned(key: other.shortDescription)) { try file.verify(with: other) }
    }

    @Test func `a file of another program, without the entry, is refused`() throws {
        #expect(throws: ProofError.self) { try ProofFile(Array(text.replacing("extra NDI=\n", with: "").utf8)) }
    }

    @Test func `every single changed byte of the file is noticed`() throws {
        var bytes = file.bytes
        for place in bytes.indices {
            for bit in [1, 2, 0x20] as [UInt8] {
                bytes[place] ^= bit
                #expect(throws: ProofError.self, "\(place)") { try ProofFile(bytes).verify(with: key.verifierKey) }
                bytes[place] ^= bit
            }
        }
    }

    @Test func `faulty files are refused, and never end the process`() {
        var mutations = Mutations(seed: 37)
        for _ in 0..<2_000 {
            let bytes = mutations.next(of: [file.bytes])
            if let read = try? ProofFile(bytes), (try? read.verify(with: key.verifierKey)) != nil {
                // Lines of unknown signatures may be added.
                #expect(read.entry == file.entry && read.index == file.index)
            }
        }
        #expect(throws: ProofError.self) { try ProofFile([UInt8](repeating: 10, count: ProofFile.maximumBytes + 1)) }
        let many = text.replacing("index 42\n", with: "index 42\n" + String(repeating: SHA256.hash([]).base64 + "\n", count: 57))
        #expect(throws: ProofError.self) { try ProofFile(Array(many.utf8)) }
    }
}

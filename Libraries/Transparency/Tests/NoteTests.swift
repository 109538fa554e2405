import Hashing
import TestChance
import Testing

@testable import Transparency

@Suite struct `Signed notes` {
    /// The example of Go's module checksum database. Its private key is public: nothing trusts it.
    /// Source: golang.org/x/mod/sumdb/note, package comment.
    private static let vkey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    private static let seed = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
    private static let text = """
        If you think cryptography is the answer to your problem,
        then you don't know what your problem is.

        """
    private static let note =
        text + "\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"

    private static func key() throws -> SigningKey {
        let seed = try #require([UInt8](base64: seed)).dropFirst()
        return try SigningKey(name: "PeterNeumann", pem: pem(seed: Array(seed)))
    }

    @Test func `the published key signs the published text as published`() throws {
        let key = try Self.key()
        #expect(key.verifierKey.description == Self.vkey)
        #expect(SignedNote(text: Self.text, signedBy: [key]).bytes == Array(Self.note.utf8))
    }

    @Test func `the published note is read, verified, and written as it was`() throws {
        let note = try SignedNote(Array(Self.note.utf8))
        #expect(note.text == Self.text)
        #expect(note.signatures.map(\.name) == ["PeterNeumann"])
        #expect(note.signatures.map(\.keyID) == [0xc74f_20a3])
        try note.verify(VerifierKey(Self.vkey))
        #expect(note.bytes == Array(Self.note.utf8))
    }

    @Test func `a changed text has a wrong signature, and another key none`() throws {
        let changed = try SignedNote(Array(Self.note.replacing("cryptography", with: "cryptographY").utf8))
        #expect(throws: ProofError.wrongSignature(key: "PeterNeumann+c74f20a3")) { try changed.verify(VerifierKey(Self.vkey)) }
        let other = try SigningKey.random(name: "PeterNeumann").verifierKey
        #expect(throws: ProofError.self) { try SignedNote(Array(Self.note.utf8)).verify(other) }
        let error = #expect(throws: ProofError.self) { try changed.verify(other) }
        guard case .unsigned = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `signatures of unknown keys do not count, and a wrong one of the known key beside a right one does`() throws {
        let (key, witness) = (try Self.key(), try SigningKey.random(name: "witness.example"))
        let note = SignedNote(text: Self.text, signedBy: [witness, key])
        try SignedNote(note.bytes).verify(key.verifierKey)
        try SignedNote(note.bytes).verify(witness.verifierKey)
        let wrong = SignedNote(text: "other\n", signedBy: [key]).bytes.drop { $0 != 0xE2 }
        #expect(throws: ProofError.wrongSignature(key: "PeterNeumann+c74f20a3")) {
            try SignedNote(note.bytes + wrong).verify(key.verifierKey)
        }
    }

    @Test(arguments: [
        "", "\n", "text\n", "text\n\n", "text\n— a AAAAAAA=\n", "text\n\n— a AAAAAAA=", "text\n\n- a AAAAAAA=\n",
        "text\n\n—  AAAAAAA=\n",
        "text\n\n— a AAAA\n", "text\n\n— a AAAAAAA=\nmore\n", "text\n\n— a AAAAAAB=\n", "text\n\n— a b AAAAAAA=\n",
        "te\rxt\n\n— a AAAAAAA=\n",
        "text\n\n— a+b AAAAAAA=\n",
    ])
    func `what is no signed note is refused`(text: String) {
        #expect(throws: ProofError.self) { try SignedNote(Array(text.utf8)) }
    }

    @Test func `a note beyond its limits is refused, and one of sixteen large signatures is read`() throws {
        let signature = "— a " + [UInt8](repeating: 1, count: 5_000).base64 + "\n"
        let sixteen = "text\n\n" + String(repeating: signature, count: 16)
        #expect(try SignedNote(Array(sixteen.utf8)).signatures.count == 16)
        let long = "text\n\n" + String(repeating: signature, count: 60)
        #expect(throws: ProofError.self) { try SignedNote(Array(long.utf8)) }
        let many = "text\n\n" + String(repeating: "— a AAAAAAA=\n", count: 101)
        #expect(throws: ProofError.self) { try SignedNote(Array(many.utf8)) }
    }

    @Test func `every part of a published verifier key counts`() throws {
        var bytes = Array(Self.vkey.utf8)
        for place in bytes.indices {
            bytes[place] += 1
            #expect(throws: ProofError.self, "\(place)") { try VerifierKey(String(decoding: bytes, as: UTF8.self)) }
            bytes[place] -= 1
        }
        for count in 0..<bytes.count {
            #expect(throws: ProofError.self) { try VerifierKey(String(decoding: bytes[..<count], as: UTF8.self)) }
        }
        let random = try SigningKey.random(name: "example.org/log").verifierKey
        #expect(try VerifierKey(random.description) == random)
    }

    @Test(arguments: ["", "a b", "a+b", "a\u{2003}b", "a\nb", String(repeating: "a", count: 256)])
    func `a name that no key may have is refused`(name: String) {
        #expect(throws: ProofError.self) { try SigningKey.random(name: name) }
    }

    @Test func `a private key is read from its file, also with line ends of Windows, and no description shows it`() throws {
        let file = pem(seed: Array(1...32))
        let key = try SigningKey(name: "example.org/log", pem: file)
        #expect(try SigningKey(name: "example.org/log", pem: file.replacing("\n", with: "\r\n")).verifierKey == key.verifierKey)
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)".contains("redacted") && dumped.contains("redacted") && !dumped.contains("seed"))
        for wrong in ["", file.lowercased(), String(file.dropLast(40)), file.replacing("MC4", with: "MC8")] {
            #expect(throws: ProofError.self) { try SigningKey(name: "a", pem: wrong) }
        }
    }

    @Test func `faulty notes are refused or read, and never end the process`() {
        var mutations = Mutations(seed: 35)
        for _ in 0..<3_000 { _ = try? SignedNote(mutations.next(of: [Self.note])).verify(VerifierKey(Self.vkey)) }
    }
}

@Suite struct `Log checkpoints` {
    /// Source: C2SP, tlog-checkpoint. The signature is of a key that is not published.
    private static let published = """
        example.com/behind-the-sofa
        20852163
        CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=

        """

    @Test func `the published checkpoint is read`() throws {
        let checkpoint = try Checkpoint(unverified: SignedNote(Array(Self.published.utf8)))
        #expect(checkpoint.origin == "example.com/behind-the-sofa")
        #expect(checkpoint.size == 20_852_163)
        #expect(checkpoint.root.base64 == "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
        // Lines behind the root are let pass.
        let root = SHA256.hash("a".utf8)
        let note = SignedNote(text: "o\n0\n\(root.base64)\nx\ny\n", signedBy: [try SigningKey.random(name: "o")])
        #expect(try Checkpoint(unverified: note) == Checkpoint(origin: "o", size: 0, root: root))
    }

    @Test func `a signed checkpoint holds with its key, and with no other and under no other name`() throws {
        let key = try SigningKey.random(name: "example.org/log")
        let checkpoint = Checkpoint(origin: "example.org/log", size: 7, root: SHA256.hash("a".utf8))
        let note = checkpoint.signed(by: key)
        #expect(try Checkpoint(note, signedBy: key.verifierKey) == checkpoint)
        #expect(note.text == "example.org/log\n7\n\(checkpoint.root.base64)\n")
        let foreign = Checkpoint(origin: "example.com/log", size: 7, root: checkpoint.root).signed(by: key)
        #expect(throws: ProofError.originDiffers(expected: "example.org/log", found: "example.com/log")) {
            try Checkpoint(foreign, signedBy: key.verifierKey)
        }
    }

    @Test(arguments: [
        "o\n1\n", "o\n01\nAAAA\n", "o\n-1\nROOT\n", "o\n+1\nROOT\n", "o\n01\nROOT\n", "o\n1\nROOT\n\nx\n", "\n1\nROOT\n",
        "o\n1\nAAAA\n", "o\n\nROOT\n",
        "o\n99999999999999999\nROOT\n", "o\n9999999999999999999999\nROOT\n", "o\n1\nROOT\n" + String(repeating: "x\n", count: 17),
    ])
    func `a text that is no checkpoint is refused`(text: String) throws {
        let root = SHA256.hash("a".utf8).base64
        let note = SignedNote(text: text.replacing("ROOT", with: root), signedBy: [try SigningKey.random(name: "o")])
        #expect(throws: ProofError.self) { try Checkpoint(unverified: note) }
    }
}

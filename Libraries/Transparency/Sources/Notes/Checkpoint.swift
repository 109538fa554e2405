internal import Encoding
public import Hashing

/// The size and the root of a log, which a key signs (C2SP `tlog-checkpoint`).
public struct Checkpoint: Sendable, Hashable {
    /// The most lines behind the root.
    public static let maximumExtensions = 16

    /// The name of the log.
    public let origin: String
    /// The number of entries.
    public let size: Int64
    /// The Merkle tree hash of all entries (RFC 6962, section 2.1).
    public let root: SHA256.Digest

    public init(origin: String, size: Int64, root: SHA256.Digest) {
        (self.origin, self.size, self.root) = (origin, size, root)
    }

    /// Reads the text of a note, without a look at its signatures. Ignores lines behind the root.
    /// - Throws: ``ProofError/malformed(subject:reason:)``
    public init(unverified note: SignedNote) throws(ProofError) {
        let lines = note.text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        guard (3...3 + Self.maximumExtensions).contains(lines.count), lines.allSatisfy({ !$0.isEmpty }) else {
            throw Self.malformed("it needs an origin, a size, a root, and at most \(Self.maximumExtensions) more lines")
        }
        let texts = lines.map { Substring($0) }
        guard let size = Int64(plainDigits: texts[1]), size <= MerkleTree.maximumSize else {
            throw Self.malformed("its size is not a number up to \(MerkleTree.maximumSize)")
        }
        guard let bytes = [UInt8](base64: texts[2]), let root = SHA256.Digest(bytes) else {
            throw Self.malformed("its root is not 32 bytes in base 64")
        }
        (origin, self.size, self.root) = (String(texts[0]), size, root)
    }

    /// Verifies the signature of a note, and that it is a checkpoint of the log that the key names.
    /// - Throws: ``ProofError`` that says what differs
    public init(_ note: SignedNote, signedBy key: VerifierKey) throws(ProofError) {
        try note.verify(key)
        try self.init(unverified: note)
        guard origin.hasSameBytes(as: key.name) else { throw .originDiffers(expected: key.name, found: origin) }
    }

    public func signed(by key: SigningKey) -> SignedNote {
        SignedNote(text: "\(origin)\n\(size)\n\(root.base64)\n", signedBy: [key])
    }

    private static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the checkpoint", reason: reason) }
}

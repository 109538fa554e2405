internal import Hashing

/// A file that proves, without the log, that the log has an entry: the entry, its place, the hashes beside its way to the root, and a
/// signed checkpoint (C2SP `tlog-proof`).
///
/// The entry is the `extra` line, which the format leaves to the application. ``verify(with:)`` computes the root from it, so a
/// changed entry does not pass.
public struct ProofFile: Sendable, Hashable {
    /// Room for an entry of 65,535 bytes in base 64, all hashes, and the largest note.
    public static let maximumBytes = SignedNote.maximumBytes + 96 * 1024

    private static let firstLine = "c2sp.org/tlog-proof@v1"
    private static let (extra, indexName) = ("extra ", "index ")

    public let entry: [UInt8]
    /// The place of the entry, from 0.
    public let index: Int64
    let hashes: [SHA256.Digest]
    /// The checkpoint, to which witnesses may have added signatures.
    public let note: SignedNote

    /// - Parameters:
    ///   - path: a proof in the tree of the checkpoint
    public init(entry: [UInt8], path: InclusionProof, note: SignedNote) {
        (self.entry, index, hashes, self.note) = (entry, path.index, path.hashes, note)
    }

    /// Reads a proof file.
    /// - Throws: ``ProofError/malformed(subject:reason:)``
    public init(_ bytes: [UInt8]) throws(ProofError) {
        let lineFeed = UInt8(ascii: "\n")
        guard bytes.count <= Self.maximumBytes,
            let end = bytes.indices.dropLast().first(where: { bytes[$0] == lineFeed && bytes[$0 + 1] == lineFeed }),
            let head = String(validating: bytes[..<end], as: UTF8.self)
        else { throw Self.malformed("it has more than \(Self.maximumBytes) bytes, no empty line, or is not UTF-8") }
        let lines = head.utf8.split(separator: lineFeed, omittingEmptySubsequences: false).map { Substring($0) }
        guard lines.count >= 3, lines[0] == Self.firstLine else {
            throw Self.malformed("its first line is not \(Self.firstLine)")
        }
        guard lines[1].hasPrefix(Self.extra), let entry = [UInt8](base64: lines[1].dropFirst(Self.extra.count)) else {
            throw Self.malformed("it has no entry in base 64")
        }
        guard lines[2].hasPrefix(Self.indexName), let index = Int64(plainDigits: lines[2].dropFirst(Self.indexName.count)) else {
            throw Self.malformed("its index is not a number")
        }
        hashes = lines.dropFirst(3).compactMap { line in [UInt8](base64: line).flatMap { SHA256.Digest($0) } }
        guard hashes.count == lines.count - 3, hashes.count <= InclusionProof.maximumHashes else {
            throw Self.malformed("it needs at most \(InclusionProof.maximumHashes) hashes of 32 bytes in base 64")
        }
        (self.entry, self.index) = (entry, index)
        note = try SignedNote(Array(bytes[(end + 2)...]))
    }

    /// The file in its format.
    public var bytes: [UInt8] {
        let lines = [Self.firstLine, Self.extra + entry.base64, "\(Self.indexName)\(index)"] + hashes.map(\.base64) + ["", ""]
        return Array(lines.joined(separator: "\n").utf8) + note.bytes
    }

    /// Verifies the signature of the checkpoint, that it is one of the log that the key names, and that this log has the entry at the index.
    /// Needs neither the log nor a network.
    /// - Returns: the checkpoint, whose size says which log holds the entry
    /// - Throws: ``ProofError`` that says what differs
    @discardableResult
    public func verify(with key: VerifierKey) throws(ProofError) -> Checkpoint {
        let checkpoint = try Checkpoint(note, signedBy: key)
        try InclusionProof(index: index, size: checkpoint.size, hashes: hashes)
            .verify(leaf: MerkleTree.leafHash(of: entry), root: checkpoint.root)
        return checkpoint
    }

    private static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the proof", reason: reason) }
}

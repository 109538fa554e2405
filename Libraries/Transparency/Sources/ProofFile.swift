internal import Encoding
internal import Hashing

/// A file that proves, without the log, that the log has an entry: the entry, its place, the hashes beside its way to the root, and a
/// signed checkpoint (C2SP `tlog-proof`).
///
/// The entry is the `extra` line, which the format leaves to the application. ``verify(with:)`` computes the root from it, so a
/// changed entry does not pass.
public struct ProofFile: Sendable, Hashable {
    /// Room for the largest entry in base 64, all hashes, and the largest note.
    public static let maximumBytes = SignedNote.maximumBytes + 96 * 1024

    private static let firstLine = "c2sp.org/tlog-proof@v1"
    private static let (extra, indexName) = ("extra ", "index ")

    /// `nil` in files of other programs, which leave the entry to the verifier.
    public let entry: [UInt8]?
    /// The place of the entry, from 0.
    public let index: Int64
    let hashes: [SHA256.Digest]
    /// The checkpoint, to which witnesses may have added signatures.
    public let note: SignedNote

    init(entry: [UInt8], index: Int64, hashes: [SHA256.Digest], note: SignedNote) {
        (self.entry, self.index, self.hashes, self.note) = (entry, index, hashes, note)
    }

    /// Reads a proof file.
    /// - Throws: ``ProofError/malformed(subject:reason:)``
    public init(_ bytes: [UInt8]) throws(ProofError) {
        guard bytes.count <= Self.maximumBytes else { throw Self.malformed("it has more than \(Self.maximumBytes) bytes") }
        let lineFeed = UInt8(ascii: "\n")
        var rest = bytes[...]
        func nextLine() throws(ProofError) -> String {
            guard let end = rest.firstIndex(of: lineFeed), let line = String(validating: rest[..<end], as: UTF8.self) else {
                throw Self.malformed("it ends too early, or is not UTF-8")
            }
            rest = rest[(end + 1)...]
            return line
        }
        guard try nextLine() == Self.firstLine else { throw Self.malformed("its first line is not \(Self.firstLine)") }
        var line = try nextLine()
        if line.hasPrefix(Self.extra) {
            guard let entry = [UInt8](base64: line.dropFirst(Self.extra.count)) else {
                throw Self.malformed("its entry is not base 64")
            }
            self.entry = entry
            line = try nextLine()
        } else {
            entry = nil
        }
        guard line.hasPrefix(Self.indexName), let index = Int64(plainDigits: line.dropFirst(Self.indexName.count)) else {
            throw Self.malformed("its index is not a number")
        }
        self.index = index
        var hashes: [SHA256.Digest] = []
        line = try nextLine()
        while !line.isEmpty {
            guard let bytes = [UInt8](base64: line), let hash = SHA256.Digest(bytes) else {
                throw Self.malformed("its hash \(hashes.count + 1) is not 32 bytes in base 64")
            }
            hashes.append(hash)
            guard hashes.count <= InclusionProof.maximumHashes else {
                throw Self.malformed("it has more than \(InclusionProof.maximumHashes) hashes")
            }
            line = try nextLine()
        }
        self.hashes = hashes
        note = try SignedNote(Array(rest))
    }

    /// The file in its format.
    public var bytes: [UInt8] {
        let entryLine = entry.map { [Self.extra + $0.base64] } ?? []
        let lines = [Self.firstLine] + entryLine + ["\(Self.indexName)\(index)"] + hashes.map(\.base64) + ["", ""]
        return Array(lines.joined(separator: "\n").utf8) + note.bytes
    }

    /// Verifies the signature of the checkpoint, that it is one of the log that the key names, and that this log has the entry at the index.
    /// Needs neither the log nor a network.
    /// - Parameter entry: the entry, if the caller has it; `nil` for that of the file
    /// - Returns: the checkpoint, whose size says which log holds the entry
    /// - Throws: ``ProofError`` that says what differs
    @discardableResult
    public func verify(with key: VerifierKey, entry: [UInt8]? = nil) throws(ProofError) -> LogCheckpoint {
        let checkpoint = try LogCheckpoint(note, signedBy: key)
        guard let entry = entry ?? self.entry else { throw .noEntry }
        try InclusionProof(index: index, size: checkpoint.size, hashes: hashes)
            .verify(leaf: MerkleTree.leafHash(of: entry), root: checkpoint.root)
        return checkpoint
    }

    private static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the proof", reason: reason) }
}

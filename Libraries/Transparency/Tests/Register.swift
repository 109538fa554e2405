import Hashing
import Transparency

/// A library's register of loans. The library can add a loan, and can neither change nor remove one unseen.
struct Register {
    let key: SigningKey
    private var loans: [String] = []
    private var tree = TreeGrowth()
    private var tiles: [Tile: [SHA256.Digest]] = [:]

    init(key: SigningKey) { self.key = key }

    /// - Returns: a checkpoint, which somebody outside keeps
    mutating func record(_ loan: String) -> SignedNote {
        loans.append(loan)
        for (tile, hashes) in tree.append([MerkleTree.leafHash(of: loan.utf8)]) { tiles[tile.full] = hashes }
        return Checkpoint(origin: key.verifierKey.name, size: tree.size, root: tree.root).signed(by: key)
    }

    /// A file that proves a loan to everybody who has the verifier key.
    func proof(of index: Int, in note: SignedNote) throws -> [UInt8] {
        let size = try Checkpoint(note, signedBy: key.verifierKey).size
        let path = try InclusionProof(of: Int64(index), in: size) { tiles[$0] ?? [] }
        return ProofFile(entry: Array(loans[index].utf8), path: path, note: note).bytes
    }

    /// What a reader checks at home, without the register.
    static func loan(provenBy file: [UInt8], verifierKey: String) throws -> String {
        let proof = try ProofFile(file)
        try proof.verify(with: VerifierKey(verifierKey))
        return String(decoding: proof.entry, as: UTF8.self)
    }
}

import Transparency

/// A library's register of loans. The library can add a loan, and can neither change nor remove one unseen.
struct Register {
    private let directory: TileDirectory
    private let key: SigningKey

    /// - Parameter path: a directory, whose files a web server may publish
    init(path: String, key: SigningKey) throws {
        directory = try TileDirectory(path: path)
        self.key = key
    }

    func record(_ loans: [String]) throws {
        var writer = try TreeWriter(directory, key: key)
        try writer.append(loans.map { Array($0.utf8) }, at: writer.checkpoint.size)
    }

    /// A file that proves a loan to everybody who has the verifier key.
    func proof(of index: Int64) throws -> [UInt8]? {
        try PublishedTree(directory, signedBy: key.verifierKey)?.proof(of: index).bytes
    }

    /// What a reader checks at home, without the register.
    static func loan(provenBy file: [UInt8], verifierKey: String) throws -> String {
        let proof = try ProofFile(file)
        try proof.verify(with: VerifierKey(verifierKey))
        return String(decoding: proof.entry ?? [], as: UTF8.self)
    }
}

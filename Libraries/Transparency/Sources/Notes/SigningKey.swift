internal import Hashing

/// The private key of a log with the log's name. No description shows it.
///
/// Its file is PEM with PKCS #8 (RFC 8410), as `openssl genpkey -algorithm ed25519` writes it. The file does not contain the name.
public struct SigningKey: Sendable {
    /// The most bytes of a PEM file that is read.
    public static let maximumPEMBytes = 4096
    /// What stands before the seed in PKCS #8: a sequence of version 0, the algorithm 1.3.101.112, and 34 bytes. Source: RFC 8410, section 7.
    private static let prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    private static let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")

    private let privateKey: Ed25519.PrivateKey
    public let verifierKey: VerifierKey

    /// Reads a PEM file. White space around it and line ends of Windows are let pass.
    /// - Parameter name: the name of the log, see ``VerifierKey/isName(_:)``
    /// - Throws: ``ProofError/malformed(subject:reason:)``, which does not show the text
    public init(name: String, pem: String) throws(ProofError) {
        guard VerifierKey.isName(name) else {
            throw Self.malformed(
                "its name is empty, longer than \(VerifierKey.maximumNameBytes) bytes, or has spaces or plus signs")
        }
        guard pem.utf8.count <= Self.maximumPEMBytes else {
            throw Self.malformed("it has more than \(Self.maximumPEMBytes) bytes")
        }
        let lines = pem.unicodeScalars.split { $0.properties.isWhitespace && $0 != " " }.map { String($0) }
        guard lines.first == Self.begin, lines.last == Self.end else {
            throw Self.malformed("it does not begin with \(Self.begin) and end with \(Self.end)")
        }
        guard let bytes = [UInt8](base64: lines.dropFirst().dropLast().joined()), bytes.starts(with: Self.prefix),
            let privateKey = Ed25519.PrivateKey(seed: bytes.dropFirst(Self.prefix.count))
        else { throw Self.malformed("it has no Ed25519 key") }
        self.privateKey = privateKey
        verifierKey = VerifierKey(name: name, publicKey: privateKey.publicKey)
    }

    func signature(of text: String) -> SignedNote.Signature {
        SignedNote.Signature(name: verifierKey.name, keyID: verifierKey.id, bytes: privateKey.signature(of: text.utf8))
    }

    private static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the signing key", reason: reason) }
}

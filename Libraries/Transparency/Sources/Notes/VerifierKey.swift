public import Hashing

/// The public key of a log with the log's name, a `vkey`: `example.org/log+8f2a01c4+AQ…` (C2SP `signed-note`).
public struct VerifierKey: Sendable, Hashable {
    /// The byte for Ed25519 in key ids and encoded keys.
    static let ed25519: UInt8 = 1
    /// The most bytes of a name.
    public static let maximumNameBytes = 255

    /// The name of the log: a URL without a scheme, by custom.
    public let name: String
    public let publicKey: Ed25519.PublicKey
    /// The first four bytes of a digest of name and key. A short hint which key to try, and no proof of anything.
    public let id: UInt32

    init(name: String, publicKey: Ed25519.PublicKey) {
        (self.name, self.publicKey) = (name, publicKey)
        let digest = SHA256.hash(Array(name.utf8) + [UInt8(ascii: "\n"), Self.ed25519] + publicKey.bytes)
        id = digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a `vkey`.
    /// - Throws: ``ProofError/malformed(subject:reason:)``
    public init(_ text: String) throws(ProofError) {
        // The key in base 64 may contain a plus, too.
        let parts = text.utf8.split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let name = String(parts[0]), Self.isName(name) else {
            throw Self.malformed("it is not a name, an id and a key, with plus signs between them")
        }
        guard let bytes = [UInt8](base64: Substring(parts[2])), bytes.first == Self.ed25519,
            let publicKey = Ed25519.PublicKey(bytes.dropFirst())
        else { throw Self.malformed("it has no Ed25519 key in base 64") }
        self.init(name: name, publicKey: publicKey)
        guard parts[1].elementsEqual(idDigits.utf8) else { throw Self.malformed("its id is not that of its name and key") }
    }

    /// Whether a text may name a key: not empty, without spaces, plus signs and control characters, and at most 255 bytes long.
    public static func isName(_ text: String) -> Bool {
        (1...maximumNameBytes).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0 != "+" && $0.value >= 0x20 && $0.value != 0x7F }
    }

    private var idDigits: String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Name and id, for messages.
    var shortDescription: String { "\(name)+\(idDigits)" }

    private static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the verifier key", reason: reason) }
}

extension VerifierKey: CustomStringConvertible {
    /// The `vkey`.
    public var description: String { "\(shortDescription)+\(([Self.ed25519] + publicKey.bytes).base64)" }
}

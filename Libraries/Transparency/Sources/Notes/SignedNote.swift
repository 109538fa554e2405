internal import Encoding
internal import Hashing

/// A text with signatures below it (C2SP `signed-note`).
///
/// A note is at most 256 KiB and has at most 100 signatures. The text may be believed only after ``verify(_:)``.
public struct SignedNote: Sendable, Hashable {
    /// Room for sixteen signatures of the largest kind, which a verifier must accept, and for the text.
    public static let maximumBytes = 256 * 1024
    public static let maximumSignatures = 100

    /// A signature of a key that may be unknown.
    public struct Signature: Sendable, Hashable {
        public var name: String
        public var keyID: UInt32
        /// 64 bytes for Ed25519.
        public var bytes: [UInt8]
    }

    /// Ends with a line feed.
    public let text: String
    public private(set) var signatures: [Signature]

    /// Signs a text.
    /// - Parameter text: ends with a line feed
    public init(text: String, signedBy keys: [SigningKey]) {
        self.text = text
        signatures = keys.map { $0.signature(of: text) }
    }

    /// Reads a note.
    /// - Throws: ``ProofError/malformed(subject:reason:)``
    public init(_ bytes: [UInt8]) throws(ProofError) {
        guard bytes.count <= Self.maximumBytes else { throw Self.malformed("it has more than \(Self.maximumBytes) bytes") }
        guard let whole = String(validating: bytes, as: UTF8.self) else { throw Self.malformed("it is not UTF-8") }
        let lineFeed = UInt8(ascii: "\n")
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == lineFeed }) else { throw Self.malformed("it has control characters") }
        guard bytes.last == lineFeed else { throw Self.malformed("it does not end with a line feed") }
        // The last empty line separates the signatures.
        let places = bytes.indices.dropLast()
        guard let end = places.last(where: { bytes[$0] == lineFeed && bytes[$0 + 1] == lineFeed }) else {
            throw Self.malformed("it has no empty line above its signatures")
        }
        let utf8 = whole.utf8
        let textEnd = utf8.index(utf8.startIndex, offsetBy: end + 1)
        text = String(whole[..<textEnd])
        let lines = utf8[utf8.index(after: textEnd)...].split(separator: lineFeed)
        guard (1...Self.maximumSignatures).contains(lines.count) else { throw Self.malformed("it has \(lines.count) signatures") }
        signatures = []
        for line in lines { signatures.append(try Signature(line: Substring(line))) }
    }

    /// The note in its format.
    public var bytes: [UInt8] { Array((text + "\n" + signatures.map { $0.line + "\n" }.joined()).utf8) }

    /// Verifies that a key has signed the text. Signatures of other keys do not count.
    /// - Throws: ``ProofError/unsigned(key:)`` or ``ProofError/wrongSignature(key:)``
    public func verify(_ key: VerifierKey) throws(ProofError) {
        let own = signatures.filter { $0.keyID == key.id && $0.name.hasSameBytes(as: key.name) }
        guard !own.isEmpty else { throw .unsigned(key: key.shortDescription) }
        guard own.allSatisfy({ key.publicKey.isValid($0.bytes, of: text.utf8) }) else {
            throw .wrongSignature(key: key.shortDescription)
        }
    }

    fileprivate static func malformed(_ reason: String) -> ProofError { .malformed(subject: "the signed note", reason: reason) }
}

extension SignedNote.Signature {
    private static let mark = "\u{2014} "

    fileprivate init(line: Substring) throws(ProofError) {
        guard line.utf8.starts(with: Self.mark.utf8) else { throw SignedNote.malformed("a signature begins without a dash") }
        let parts = line.utf8.dropFirst(Self.mark.utf8.count).split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = String(parts[0]), VerifierKey.isName(name),
            let bytes = [UInt8](base64: Substring(parts[1])), bytes.count > 4
        else { throw SignedNote.malformed("a signature is not a name and base 64") }
        self.name = name
        keyID = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        self.bytes = Array(bytes.dropFirst(4))
    }

    fileprivate var line: String {
        "\(Self.mark)\(name) \(((0..<4).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) } + bytes).base64)"
    }
}

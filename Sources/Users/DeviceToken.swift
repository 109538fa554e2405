public import Encoding
internal import Hashing
internal import Postgres

/// The secret by which a device proves its user. Humon returns the text at sign-up and keeps a digest only.
public struct DeviceToken: Sendable, Hashable, Redacted {
    /// The longest token that sign-up accepts, in bytes.
    public static let lengthLimit = 255

    /// Whether the token consists of printable ASCII characters, without a space at either end. Sign-up accepts no other token.
    ///
    /// The HTTP libraries replace bytes that are not UTF-8 by U+FFFD before a handler sees a header. So different bytes could become
    /// one token, and one user.
    public var isWellFormed: Bool {
        let space = UInt8(ascii: " ")
        guard let first = secret.utf8.first, first != space, secret.utf8.last != space else { return false }
        return secret.utf8.allSatisfy { (space...UInt8(ascii: "~")).contains($0) }
    }

    /// Whether the token is so short that trying tokens may find it. Tokens of Humon have 122 random bits; the API lets a client choose less.
    public var canBeGuessed: Bool { secret.utf8.count < 16 }

    /// The text, for the device itself and for no log, error or trace.
    public let secret: String
    /// Of the text alone. ``UsersModule/digest(of:)`` says what is stored.
    let digest: DeviceDigest

    public init(secret: String) {
        self.secret = secret
        digest = DeviceDigest(bytes: Array(SHA256.hash(secret.utf8)))
    }
}

/// A SHA-256 digest of a device token or of a pass: 32 bytes.
public struct DeviceDigest: Sendable, Hashable {
    var bytes: [UInt8]

    var bytea: Bytea { Bytea(bytes: bytes) }

    var hexadecimal: String { bytes.hexadecimal }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a stored digest; `nil` for another length and for upper-case digits, because one device must not have two texts.
    init?(stored text: String) {
        guard text.isHexadecimal(digits: 64) else { return nil }
        let digits = text.utf8.map { $0 - ($0 < UInt8(ascii: "a") ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

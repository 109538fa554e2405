internal import Crypto
internal import Postgres

/// The secret that a device shows to say whose it is. Its text is given out once, at sign-up; what is kept is a digest.
public struct DeviceToken: Sendable, Hashable {
    /// The longest token that is taken, in bytes.
    public static let lengthLimit = 255

    /// Whether it consists of printable ASCII characters, spaces only between others, as every token does that is taken.
    ///
    /// The HTTP libraries replace bytes that are not UTF-8 by U+FFFD before a header can be looked at. So different bytes could become
    /// one token, and one user.
    public var isWellFormed: Bool {
        let space = UInt8(ascii: " ")
        guard let first = secret.utf8.first, first != space, secret.utf8.last != space else { return false }
        return secret.utf8.allSatisfy { (space...UInt8(ascii: "~")).contains($0) }
    }

    /// To be shown to the device it belongs to and to nobody else.
    public let secret: String
    let digest: DeviceDigest

    public init(secret: String) {
        self.secret = secret
        digest = DeviceDigest(bytes: Array(SHA256.hash(data: Array(secret.utf8))))
    }
}

extension DeviceToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "DeviceToken(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The SHA-256 digest of a device token: 32 bytes.
public struct DeviceDigest: Sendable, Hashable {
    var bytes: [UInt8]

    var bytea: Bytea { Bytea(bytes: bytes) }

    var hexadecimal: String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// As it is stored: one device must not have two texts. nil for digits in upper case, and for another length.
    init?(stored text: String) {
        guard !text.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }) else { return nil }
        self.init(hexadecimal: text)
    }

    init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

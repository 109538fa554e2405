internal import Crypto
internal import Postgres

/// The secret that a device shows to say whose it is. Its text is given out once, at sign-up; what is kept is a digest.
public struct DeviceToken: Sendable, Hashable {
    /// The longest token that is taken, in bytes.
    public static let lengthLimit = 255

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

    init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

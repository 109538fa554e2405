import Hashing

/// What a club keeps of a member's password.
struct Membership {
    private static let scrypt = Scrypt(logCost: 14, blockSize: 8, parallelism: 1)

    private let salt: [UInt8]
    private let key: SHA256.Digest

    init(password: String) throws(ScryptError) {
        salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        key = try Self.key(password, salt)
    }

    func admits(_ password: String) throws(ScryptError) -> Bool { try Self.key(password, salt) == key }

    private static func key(_ password: String, _ salt: [UInt8]) throws(ScryptError) -> SHA256.Digest {
        SHA256.hash(try scrypt.key(of: password.utf8, salt: salt, byteCount: 32))
    }
}

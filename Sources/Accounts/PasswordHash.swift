internal import Encoding
internal import Foundation
package import Hashing

/// The scrypt hash of a password, with its parameters and its salt. Source: RFC 7914.
package struct PasswordHash: Sendable, Hashable, Redacted {
    /// The most memory that a stored hash may ask for: twice as much as ``Hashing/Scrypt/standard``, so that the cost can rise.
    static let memoryLimitBytes = 64 << 20
    static let saltBytes = 16
    private static let keyBytes = 32

    let parameters: Scrypt
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Computes a hash, which takes a good part of a second: call it through ``PasswordHasher`` only.
    /// - Throws: `ScryptError`
    init(_ password: Password, parameters: Scrypt, salt: [UInt8]) throws {
        self.parameters = parameters
        self.salt = salt
        key = try parameters.key(of: password.utf8, salt: salt, byteCount: Self.keyBytes)
    }

    /// Computes the hash of a password and compares the two in constant time: call it through ``PasswordHasher`` only.
    /// - Throws: `ScryptError`
    func matches(_ password: Password) throws -> Bool {
        let other = try parameters.key(of: password.utf8, salt: salt, byteCount: Self.keyBytes)
        // Digests of equal keys are equal, and digests are compared in constant time.
        return SHA256.hash(key) == SHA256.hash(other)
    }
}

/// The cost of one hash.
extension Scrypt {
    /// 32 MiB of memory for each hash. Source: OWASP, *Password Storage Cheat Sheet*, which lists N = 2^15, r = 8, p = 3.
    package static let standard = Scrypt(logCost: 15, blockSize: 8, parallelism: 3)

    private var work: Int { memoryBytes * parallelism }

    func isWeaker(than other: Scrypt) -> Bool { memoryBytes < other.memoryBytes || work < other.work }

    /// Whether a server may compute a hash with stored parameters: an imported log must not exhaust its memory.
    fileprivate var isUsable: Bool {
        (1...20).contains(logCost) && (1...16).contains(blockSize) && (1...16).contains(parallelism)
            && logCost < 16 * blockSize && memoryBytes <= PasswordHash.memoryLimitBytes
    }
}

/// The stored text, `$scrypt$ln=15,r=8,p=3$salt$key`. Source: *PHC string format*, github.com/P-H-C/phc-string-format.
extension PasswordHash {
    var stored: String {
        "$scrypt$ln=\(parameters.logCost),r=\(parameters.blockSize),p=\(parameters.parallelism)$\(base64(salt))$\(base64(key))"
    }

    /// Returns `nil` for any other text, and for parameters that a server must not use.
    init?(stored text: String) {
        let format = /\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+\/]{22})\$([A-Za-z0-9+\/]{43})/
        guard let match = text.wholeMatch(of: format), let logCost = Int(match.1), let blockSize = Int(match.2),
            let parallelism = Int(match.3), let salt = Data(base64Encoded: match.4 + "=="),
            let key = Data(base64Encoded: match.5 + "=")
        else { return nil }
        parameters = Scrypt(logCost: logCost, blockSize: blockSize, parallelism: parallelism)
        (self.salt, self.key) = (Array(salt), Array(key))
        // Another text of the same numbers or bytes is refused, so that one hash has one text.
        guard parameters.isUsable, stored == text else { return nil }
    }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString().replacing("=", with: "") }
}

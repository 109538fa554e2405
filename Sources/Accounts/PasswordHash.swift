internal import Crypto
internal import CryptoExtras
internal import Foundation

/// The scrypt hash of a password, with its parameters and its salt. Source: RFC 7914.
package struct PasswordHash: Sendable, Hashable {
    /// The cost of one hash.
    package struct Parameters: Sendable, Hashable {
        /// The binary logarithm of scrypt's N.
        var logCost: Int
        /// scrypt's r.
        var blockSize: Int
        /// scrypt's p. The blocks are computed one after the other.
        var parallelism: Int

        /// 32 MiB of memory for each hash. Source: OWASP, *Password Storage Cheat Sheet*, which lists N = 2^15, r = 8, p = 3.
        package static let standard = Parameters(logCost: 15, blockSize: 8, parallelism: 3)
        /// A debug build computes a hash nine times slower, and so uses parameters that are eight times weaker. They stand beside each
        /// hash, so a release build hashes the password again at the next sign-in.
        #if DEBUG
            package static let current = Parameters(logCost: 12, blockSize: 8, parallelism: 3)
        #else
            package static let current = standard
        #endif
        /// For tests: the result is no protection.
        package static let weak = Parameters(logCost: 4, blockSize: 8, parallelism: 1)

        package var memoryBytes: Int { 128 * blockSize << logCost }
        private var work: Int { memoryBytes * parallelism }

        func isWeaker(than other: Parameters) -> Bool { memoryBytes < other.memoryBytes || work < other.work }

        /// Whether a server may compute a hash with stored parameters: an imported log must not exhaust its memory.
        fileprivate var isUsable: Bool {
            (1...20).contains(logCost) && (1...16).contains(blockSize) && (1...16).contains(parallelism)
                && logCost < 16 * blockSize && memoryBytes <= PasswordHash.memoryLimitBytes
        }
    }

    /// The most memory that a stored hash may ask for: twice as much as ``Parameters/standard``, so that they can rise.
    static let memoryLimitBytes = 64 << 20
    static let saltBytes = 16
    private static let keyBytes = 32

    let parameters: Parameters
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Computes a hash, which takes a good part of a second: call it through ``PasswordHasher`` only.
    /// - Throws: an error of Crypto if the memory cannot be had
    init(_ password: Password, parameters: Parameters, salt: [UInt8]) throws {
        self.parameters = parameters
        self.salt = salt
        key = try Self.key(password, parameters, salt).withUnsafeBytes { Array($0) }
    }

    /// Computes the hash of a password and compares the two in constant time: call it through ``PasswordHasher`` only.
    /// - Throws: an error of Crypto if the memory cannot be had
    func matches(_ password: Password) throws -> Bool {
        try Self.key(password, parameters, salt) == SymmetricKey(data: key)
    }

    private static func key(_ password: Password, _ parameters: Parameters, _ salt: [UInt8]) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            // The library needs the address of the first byte. No password of an account is this one, because all are longer.
            from: password.utf8.isEmpty ? [0] : password.utf8, salt: salt, outputByteCount: keyBytes,
            rounds: 1 << parameters.logCost, blockSize: parameters.blockSize, parallelism: parameters.parallelism)
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
        parameters = Parameters(logCost: logCost, blockSize: blockSize, parallelism: parallelism)
        (self.salt, self.key) = (Array(salt), Array(key))
        // Another text of the same numbers or bytes is refused, so that one hash has one text.
        guard parameters.isUsable, stored == text else { return nil }
    }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString().replacing("=", with: "") }
}

extension PasswordHash: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "PasswordHash(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

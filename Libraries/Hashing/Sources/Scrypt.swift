internal import COpenSSL

/// The password hash scrypt (RFC 7914), computed by OpenSSL.
public struct Scrypt: Sendable, Hashable {
    /// The binary logarithm of scrypt's N.
    public var logCost: Int
    /// scrypt's r.
    public var blockSize: Int
    /// scrypt's p. The blocks are computed one after the other.
    public var parallelism: Int

    public init(logCost: Int, blockSize: Int, parallelism: Int) {
        (self.logCost, self.blockSize, self.parallelism) = (logCost, blockSize, parallelism)
    }

    /// Bytes of memory for the computation.
    public var memoryBytes: Int { 128 * blockSize << logCost }
    /// Bytes beyond ``memoryBytes`` that OpenSSL needs at most: two more blocks, one for each parallel part, and its own structures.
    private var allowedBytes: Int { memoryBytes + 128 * blockSize * (parallelism + 2) + 1 << 20 }

    /// Computes a key of that many bytes. Takes a good part of a second with parameters that protect.
    /// - Throws: ``ScryptError`` if the memory cannot be had, or if RFC 7914 forbids the parameters
    public func key(of password: some Sequence<UInt8>, salt: [UInt8], byteCount: Int) throws(ScryptError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: byteCount)
        // OpenSSL takes an empty password only with an address.
        let password = Array(password) + [0]
        let status = unsafe password.withUnsafeBytes { password in
            unsafe EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count - 1, salt, salt.count,
                1 << UInt64(logCost),
                UInt64(blockSize), UInt64(parallelism), UInt64(allowedBytes), &key, byteCount)
        }
        guard status == 1 else { throw ScryptError() }
        return key
    }
}

/// OpenSSL computed no hash: the memory cannot be had, or RFC 7914 forbids the parameters.
public struct ScryptError: Error, Hashable, CustomStringConvertible {
    public var description: String { "the password cannot be hashed: no memory, or forbidden parameters" }
}

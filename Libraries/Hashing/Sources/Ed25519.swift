internal import COpenSSL

/// Signatures with Ed25519 (RFC 8032), computed by OpenSSL.
///
///     let key = Ed25519.PrivateKey(seed: seed)
///     let signature = key?.signature(of: "Hello, Ann!".utf8)
public enum Ed25519 {
    /// Bytes of a public key, and of the seed of a private key.
    public static let keyByteCount = 32
    public static let signatureByteCount = 64

    /// A key that checks signatures.
    public struct PublicKey: Sendable, Hashable {
        public let bytes: [UInt8]

        /// `nil` unless they are 32 bytes. Bytes that are no point of the curve make a key that no signature fits.
        public init?(_ bytes: some Collection<UInt8>) {
            guard bytes.count == keyByteCount else { return nil }
            self.bytes = Array(bytes)
        }

        public func isValid(_ signature: [UInt8], of message: some Sequence<UInt8>) -> Bool {
            signature.count == signatureByteCount && Key(publicKey: bytes)?.isValid(signature, of: Array(message)) == true
        }
    }

    /// A key that signs. No description shows its seed.
    public struct PrivateKey: Sendable {
        /// The secret from which RFC 8032 derives the key.
        public let seed: [UInt8]
        public let publicKey: PublicKey

        /// `nil` unless they are 32 bytes.
        public init?(seed: some Collection<UInt8>) {
            let seed = Array(seed)
            guard seed.count == keyByteCount, let publicKey = PublicKey(Key(seed: seed).publicKey) else { return nil }
            (self.seed, self.publicKey) = (seed, publicKey)
        }

        /// The 64 bytes of the signature, which are the same each time.
        public func signature(of message: some Sequence<UInt8>) -> [UInt8] { Key(seed: seed).signature(of: Array(message)) }
    }
}

extension Ed25519.PrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "Ed25519.PrivateKey(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// OpenSSL's form of a key, which this value owns and frees.
@safe private struct Key: ~Copyable {
    private static let outOfMemory = "OpenSSL computes Ed25519 unless memory ends"

    private let key: OpaquePointer

    init(seed: [UInt8]) {
        guard let key = unsafe EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count) else {
            preconditionFailure(Self.outOfMemory)
        }
        unsafe self.key = key
    }

    init?(publicKey: [UInt8]) {
        guard let key = unsafe EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicKey, publicKey.count) else { return nil }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    var publicKey: [UInt8] {
        var (bytes, count) = ([UInt8](repeating: 0, count: Ed25519.keyByteCount), Ed25519.keyByteCount)
        precondition(unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, Self.outOfMemory)
        return bytes
    }

    func signature(of message: [UInt8]) -> [UInt8] {
        var (bytes, count) = ([UInt8](repeating: 0, count: Ed25519.signatureByteCount), Ed25519.signatureByteCount)
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        precondition(
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1
                && EVP_DigestSign(context, &bytes, &count, message, message.count) == 1, Self.outOfMemory)
        return bytes
    }

    func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        precondition(unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1, Self.outOfMemory)
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

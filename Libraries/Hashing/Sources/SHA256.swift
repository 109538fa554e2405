internal import COpenSSL

/// SHA-256 (FIPS 180-4), computed by OpenSSL.
///
///     var hash = SHA256()
///     hash.update("Hello, ".utf8)
///     hash.update("Ann!".utf8)
///     hash.finalize() == SHA256.hash("Hello, Ann!".utf8)
public struct SHA256: Sendable {
    /// 32 bytes. Two digests are compared in constant time.
    public struct Digest: Sendable, Hashable {
        public static let byteCount = 32
        fileprivate var bytes = SIMD32<UInt8>()

        public static func == (left: Digest, right: Digest) -> Bool { (left.bytes ^ right.bytes).max() == 0 }
    }

    private var context = Context()

    public init() {}

    public mutating func update(_ bytes: some Sequence<UInt8>) {
        if !isKnownUniquelyReferenced(&context) { context = context.copy() }
        context.update(bytes)
    }

    /// The digest of the bytes until now. More bytes may follow.
    public func finalize() -> Digest { context.copy().finalize() }

    public static func hash(_ bytes: some Sequence<UInt8>) -> Digest {
        var digest = Digest()
        let status = unsafe bytes.withBytes { bytes in
            unsafe withUnsafeMutableBytes(of: &digest.bytes) { digest in
                unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, Context.algorithm, nil)
            }
        }
        precondition(status == 1, Context.outOfMemory)
        return digest
    }
}

extension SHA256.Digest {
    /// The digest that these bytes are; `nil` unless they are 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        unsafe withUnsafeMutableBytes(of: &self.bytes) { unsafe $0.copyBytes(from: bytes) }
    }
}

extension [UInt8] {
    /// Appends the 32 bytes of a digest, without a call for each byte.
    public mutating func append(_ digest: SHA256.Digest) {
        unsafe Swift.withUnsafeBytes(of: digest.bytes) { unsafe append(contentsOf: $0) }
    }
}

extension SHA256.Digest: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { Self.byteCount }
    public subscript(index: Int) -> UInt8 { bytes[index] }
}

/// `@unchecked`: ``SHA256`` changes a context only while it holds the one reference to it.
@safe private final class Context: @unchecked Sendable {
    /// Asked for once, because OpenSSL searches its providers each time.
    nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    static let outOfMemory = "OpenSSL computes SHA-256 unless memory ends"

    private let state: OpaquePointer

    init() {
        guard let state = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex2(state, Self.algorithm, nil) == 1 else {
            preconditionFailure(Self.outOfMemory)
        }
        unsafe self.state = state
    }

    deinit { unsafe EVP_MD_CTX_free(state) }

    func copy() -> Context {
        let copy = Context()
        precondition(unsafe EVP_MD_CTX_copy_ex(copy.state, state) == 1, Self.outOfMemory)
        return copy
    }

    func update(_ bytes: some Sequence<UInt8>) {
        let status = unsafe bytes.withBytes { unsafe EVP_DigestUpdate(state, $0.baseAddress, $0.count) }
        precondition(status == 1, Self.outOfMemory)
    }

    func finalize() -> SHA256.Digest {
        var digest = SHA256.Digest()
        let status = unsafe withUnsafeMutableBytes(of: &digest.bytes) { unsafe EVP_DigestFinal_ex(state, $0.baseAddress, nil) }
        precondition(status == 1, Self.outOfMemory)
        return digest
    }
}

extension Sequence<UInt8> {
    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe withContiguousStorageIfAvailable { unsafe body(UnsafeRawBufferPointer($0)) }
            ?? Array(self).withUnsafeBytes { unsafe body($0) }
    }
}

internal import COpenSSL

/// SHA-256 (FIPS 180-4), computed by OpenSSL.
///
///     SHA256.hash("Hello, Ann!".utf8)
public enum SHA256 {
    /// 32 bytes. Two digests are compared in constant time.
    public struct Digest: Sendable, Hashable {
        public static let byteCount = 32
        fileprivate var bytes = SIMD32<UInt8>()

        public static func == (left: Digest, right: Digest) -> Bool { (left.bytes ^ right.bytes).max() == 0 }
    }

    /// Asked for once, because OpenSSL searches its providers each time.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    public static func hash(_ bytes: some Sequence<UInt8>) -> Digest {
        var digest = Digest()
        let status = unsafe bytes.withBytes { bytes in
            unsafe withUnsafeMutableBytes(of: &digest.bytes) { digest in
                unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm, nil)
            }
        }
        precondition(status == 1, "OpenSSL computes SHA-256 unless memory ends")
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

extension Sequence<UInt8> {
    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe withContiguousStorageIfAvailable { unsafe body(UnsafeRawBufferPointer($0)) }
            ?? Array(self).withUnsafeBytes { unsafe body($0) }
    }
}

internal import COpenSSL

/// SHA-256 (FIPS 180-4), computed by OpenSSL.
///
///     SHA256.hash("Hello, Ann!".utf8)
public enum SHA256 {
    /// 32 bytes. Two digests are compared in constant time.
    public struct Digest: Sendable, Hashable {
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

extension SHA256.Digest: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { 32 }
    public subscript(index: Int) -> UInt8 { bytes[index] }

    /// The first 8 bytes as a number that is not negative, for an entity tag.
    public var number: Int64 { prefix(8).reduce(0) { $0 << 8 | Int64($1) } & .max }
}

extension Sequence<UInt8> {
    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe withContiguousStorageIfAvailable { unsafe body(UnsafeRawBufferPointer($0)) }
            ?? Array(self).withUnsafeBytes { unsafe body($0) }
    }
}

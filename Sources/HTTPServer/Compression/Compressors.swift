internal import CDeflate
internal import CZstd
internal import NIOCore
internal import Synchronization

/// A pool of idle compressors. Making a compressor takes longer than compressing a small response, so the pool keeps as many as
/// threads have compressed at the same time.
private final class CompressorPool: Sendable {
    // `@unchecked`: the pointer is in the pool under its lock, or checked out to one thread.
    private struct Compressor: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let free = Mutex<[Compressor]>([])
    private let make: @Sendable () -> OpaquePointer?

    init(_ make: @escaping @Sendable () -> OpaquePointer?) { self.make = make }

    /// - Returns: `nil` if memory for another compressor is missing
    func withCompressor<Value>(_ body: (OpaquePointer) -> Value) -> Value? {
        guard let compressor = free.withLock({ $0.popLast() }) ?? make().map(Compressor.init) else { return nil }
        defer { free.withLock { $0.append(compressor) } }
        return body(compressor.pointer)
    }
}

/// gzip and zlib by libdeflate.
enum DeflateCompressor {
    enum Format {
        case gzip
        case zlib
    }

    /// The level, of at most 12. Higher levels make responses a few percent smaller and take several times as long (decision
    /// 29).
    private static let level: Int32 = 1
    private static let pool = CompressorPool { libdeflate_alloc_compressor(level) }

    /// - Returns: `nil` if memory is missing
    static func compress(_ plain: ByteBuffer, format: Format) -> ByteBuffer? {
        pool.withCompressor { compressor in
            let count = plain.readableBytes
            let bound =
                switch format {
                case .gzip: libdeflate_gzip_compress_bound(compressor, count)
                case .zlib: libdeflate_zlib_compress_bound(compressor, count)
                }
            return plain.compressed(bound: bound) { input, output in
                switch format {
                case .gzip:
                    libdeflate_gzip_compress(compressor, input.baseAddress, input.count, output.baseAddress, output.count)
                case .zlib:
                    libdeflate_zlib_compress(compressor, input.baseAddress, input.count, output.baseAddress, output.count)
                }
            }
        } ?? nil
    }
}

/// zstd by libzstd.
enum ZstdCompressor {
    /// The level, of at most 22: the fastest of the regular ones.
    private static let level: Int32 = 1
    private static let pool = CompressorPool { ZSTD_createCCtx() }

    /// - Returns: `nil` if memory is missing
    static func compress(_ plain: ByteBuffer) -> ByteBuffer? {
        pool.withCompressor { context in
            plain.compressed(bound: ZSTD_compressBound(plain.readableBytes)) { input, output in
                let count = ZSTD_compressCCtx(
                    context, output.baseAddress, output.count, input.baseAddress, input.count, level)
                return ZSTD_isError(count) == 0 ? count : 0
            }
        } ?? nil
    }
}

extension ByteBuffer {
    /// - Parameters:
    ///   - bound: the maximum number of bytes of the result
    ///   - compress: returns the number of bytes that it wrote; 0 if it failed
    fileprivate func compressed(
        bound: Int, _ compress: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int
    ) -> ByteBuffer? {
        var compressed = ByteBufferAllocator().buffer(capacity: bound)
        let count = withUnsafeReadableBytes { input in
            compressed.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in compress(input, output) }
        }
        return count > 0 ? compressed : nil
    }
}

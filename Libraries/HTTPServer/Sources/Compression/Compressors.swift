internal import CISAL
internal import CZstd
internal import NIOCore
internal import Synchronization

/// A pool of idle compressors. Making a compressor takes longer than compressing a small response, so the pool keeps as many as
/// threads have compressed at the same time.
private final class CompressorPool<Compressor>: Sendable {
    // `@unchecked`: the compressor is in the pool under its lock, or checked out to one thread.
    private struct Idle: @unchecked Sendable {
        let compressor: Compressor
    }

    private let idle = Mutex<[Idle]>([])
    private let make: @Sendable () -> Compressor?

    init(_ make: @escaping @Sendable () -> Compressor?) { self.make = make }

    /// - Returns: `nil` if memory for another compressor is missing
    func withCompressor<Value>(_ body: (Compressor) -> Value) -> Value? {
        guard let compressor = idle.withLock({ $0.popLast() })?.compressor ?? make() else { return nil }
        defer { idle.withLock { $0.append(Idle(compressor: compressor)) } }
        return body(compressor)
    }
}

/// gzip by ISA-L (decision 68).
enum GzipCompressor {
    /// The state of ISA-L, 80 KiB, and its memory for the matches of one response. The pool never frees them.
    @safe private struct State {
        let stream = UnsafeMutablePointer<isal_zstream>.allocate(capacity: 1)
        let levelBuffer = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(ISAL_LEVEL_1_BUFFER_BYTES))
    }

    /// The level, of at most 3: the fastest one with Huffman codes for each response.
    private static let level: UInt32 = 1
    private static let pool = CompressorPool { State() }

    /// - Returns: `nil` if the result would be longer than the plain bytes
    static func compress(_ plain: ByteBuffer) -> ByteBuffer? {
        pool.withCompressor { state in
            unsafe plain.compressed(bound: plain.readableBytes) { input, output in
                unsafe isal_deflate_stateless_init(state.stream)
                unsafe state.stream.pointee.level = level
                unsafe state.stream.pointee.level_buf = state.levelBuffer
                unsafe state.stream.pointee.level_buf_size = ISAL_LEVEL_1_BUFFER_BYTES
                unsafe state.stream.pointee.gzip_flag = UInt16(IGZIP_GZIP)
                unsafe state.stream.pointee.end_of_stream = 1
                // ISA-L only reads its input.
                unsafe state.stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                unsafe state.stream.pointee.avail_in = UInt32(input.count)
                unsafe state.stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                unsafe state.stream.pointee.avail_out = UInt32(output.count)
                let result = unsafe isal_deflate_stateless(state.stream)
                return result == COMP_OK ? unsafe Int(state.stream.pointee.total_out) : 0
            }
        } ?? nil
    }
}

/// zstd by libzstd.
enum ZstdCompressor {
    /// The level, of at most 22: the fastest of the regular ones.
    private static let level: Int32 = 1
    private static let pool = CompressorPool { unsafe ZSTD_createCCtx().map { unsafe Context(pointer: $0) } }

    @safe private struct Context {
        let pointer: OpaquePointer
    }

    /// - Returns: `nil` if memory is missing
    static func compress(_ plain: ByteBuffer) -> ByteBuffer? {
        pool.withCompressor { context in
            unsafe plain.compressed(bound: ZSTD_compressBound(plain.readableBytes)) { input, output in
                let count = unsafe ZSTD_compressCCtx(
                    context.pointer, output.baseAddress, output.count, input.baseAddress, input.count, level)
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
        let count = unsafe withUnsafeReadableBytes { input in
            unsafe compressed.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in unsafe compress(input, output)
            }
        }
        return count > 0 ? compressed : nil
    }
}

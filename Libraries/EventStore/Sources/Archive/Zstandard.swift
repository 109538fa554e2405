internal import CZstd
public import Foundation
internal import Synchronization

/// Compresses bytes into one zstd frame with a checksum, piece by piece. Source: RFC 8878.
public final class ZstandardWriter: Sendable {
    private let file: CancellableFile
    private let frame = Mutex(Compression())

    /// - Parameter file: the writer keeps it open
    public init(_ file: FileHandle) { self.file = CancellableFile(file) }

    /// Ends a call of ``write(_:)`` or ``finish()`` that waits for a reader, and every later call. Safe to call from any thread.
    public func cancel() { file.cancel() }

    /// Compresses bytes. Blocks the thread while the file accepts none.
    /// - Throws: ``ZstandardError/cannotWrite(reason:)``, ``ZstandardError/readerClosed``; `CancellationError` after ``cancel()``
    public func write(_ bytes: [UInt8]) throws { try frame.withLock { try $0.compress(bytes, ZSTD_e_continue, to: file) } }

    /// Writes the end of the frame. No call of ``write(_:)`` may follow.
    /// - Throws: ``ZstandardError/cannotWrite(reason:)``, ``ZstandardError/readerClosed``; `CancellationError` after ``cancel()``
    public func finish() throws { try frame.withLock { try $0.compress([], ZSTD_e_end, to: file) } }
}

/// Decompresses a file of exactly one zstd frame with a checksum, piece by piece. Memory does not grow with the file: libzstd refuses
/// a frame that needs more than 128 MiB.
public final class ZstandardReader: Sendable {
    private let file: CancellableFile
    private let frame = Mutex(Decompression())

    /// - Parameter file: the reader keeps it open
    public init(_ file: FileHandle) { self.file = CancellableFile(file) }

    /// Ends a call of ``read()`` that waits for bytes, and every later call. Safe to call from any thread.
    public func cancel() { file.cancel() }

    /// Reads the next decompressed bytes. Blocks the thread until there are some.
    /// - Returns: at most 128 KiB, or nil at the end of a complete file
    /// - Throws: ``ZstandardError``; `CancellationError` after ``cancel()``
    public func read() throws -> [UInt8]? { try frame.withLock { try $0.next(from: file) } }
}

/// Size of the buffers, in bytes.
private let chunkBytes = 128 * 1_024

/// A context of libzstd, and a buffer of its output. Not safe for use from two threads at a time.
///
/// `@safe`: all pointers that libzstd gets point into memory of this object, or into an array for the time of a call.
@safe private final class Compression {
    /// The level of the program zstd.
    private static let level: Int32 = 3

    private let context: OpaquePointer
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkBytes)

    init() {
        guard let context = unsafe ZSTD_createCCtx() else { preconditionFailure("libzstd cannot allocate memory") }
        unsafe self.context = context
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        _ = unsafe ZSTD_freeCCtx(context)
        unsafe buffer.deallocate()
    }

    /// - Throws: what ``CancellableFile/write(_:)`` throws
    func compress(_ bytes: [UInt8], _ directive: ZSTD_EndDirective, to file: CancellableFile) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            var input = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            var remaining = 0
            repeat {
                var output = unsafe ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                remaining = unsafe ZSTD_compressStream2(context, &output, &input, directive)
                precondition(ZSTD_isError(remaining) == 0, "libzstd cannot compress")
                try unsafe file.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<output.pos]))
            } while unsafe directive == ZSTD_e_end ? remaining > 0 : input.pos < input.size
        }
    }
}

/// A context of libzstd, and a buffer of its input. Not safe for use from two threads at a time.
///
/// `@safe`: as ``Compression``.
@safe private final class Decompression {
    private static let magicNumber: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// The bit of the byte behind the magic number.
    private static let checksumFlag: UInt8 = 0x04

    private let context: OpaquePointer
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkBytes)
    /// The part of the buffer that is read from the file and not decompressed.
    private var pending = 0..<0
    private var hasBegun = false
    private var hasEnded = false

    init() {
        guard let context = unsafe ZSTD_createDCtx() else { preconditionFailure("libzstd cannot allocate memory") }
        unsafe self.context = context
    }

    deinit {
        _ = unsafe ZSTD_freeDCtx(context)
        unsafe buffer.deallocate()
    }

    /// - Throws: ``ZstandardError``, and what ``CancellableFile/read(into:)`` throws
    func next(from file: CancellableFile) throws -> [UInt8]? {
        if !hasBegun { try begin(file) }
        while !hasEnded {
            let piece = try decompress()
            if !piece.isEmpty { return piece }
            guard !hasEnded, pending.isEmpty else { continue }
            guard try readMore(from: file) else { throw ZstandardError.truncated }
        }
        if pending.isEmpty { _ = try readMore(from: file) }
        guard pending.isEmpty else { throw ZstandardError.trailingGarbage }
        return nil
    }

    /// libzstd would accept a frame without a checksum.
    private func begin(_ file: CancellableFile) throws {
        let headBytes = Self.magicNumber.count + 1
        while pending.count < headBytes, try readMore(from: file) {}
        let head = unsafe Array(buffer[..<min(pending.count, headBytes)])
        guard head.prefix(Self.magicNumber.count) == Self.magicNumber.prefix(head.count) else {
            throw ZstandardError.notZstandard
        }
        guard let descriptor = head.last, head.count == headBytes else { throw ZstandardError.truncated }
        guard descriptor & Self.checksumFlag != 0 else { throw ZstandardError.noChecksum }
        hasBegun = true
    }

    /// - Returns: whether the file had more
    private func readMore(from file: CancellableFile) throws -> Bool {
        if pending.isEmpty { pending = 0..<0 }
        let count = try unsafe file.read(
            into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[pending.upperBound...]))
        pending = pending.lowerBound..<(pending.upperBound + count)
        return count > 0
    }

    private func decompress() throws(ZstandardError) -> [UInt8] {
        var result = 0
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: chunkBytes) { piece, count in
            var input = unsafe ZSTD_inBuffer(src: buffer.baseAddress, size: pending.upperBound, pos: pending.lowerBound)
            var output = unsafe ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
            result = unsafe ZSTD_decompressStream(context, &output, &input)
            pending = unsafe input.pos..<pending.upperBound
            count = unsafe output.pos
        }
        guard ZSTD_isError(result) == 0 else { throw .corrupt }
        hasEnded = result == 0
        return piece
    }
}

/// Why a compressed file cannot be read or written.
public enum ZstandardError: Error, Hashable, CustomStringConvertible {
    /// The file does not begin as a zstd frame does.
    case notZstandard
    case noChecksum
    /// The file ends within the frame, or it is empty.
    case truncated
    /// The data cannot be decompressed, or its checksum is wrong.
    case corrupt
    /// The frame is followed by other bytes, such as a second frame.
    case trailingGarbage
    case cannotRead(reason: String)
    case cannotWrite(reason: String)
    /// The process at the other end of a pipe no longer reads.
    case readerClosed

    public var description: String {
        switch self {
        case .notZstandard: "The file is not a zstd file"
        case .noChecksum: "The file has no checksum: compress it with zstd --check"
        case .truncated: "The file is incomplete: it ends in the middle of its compressed data"
        case .corrupt:
            "The file is damaged, or needs more than 128 MiB of memory: its data cannot be decompressed, or differ from their checksum"
        case .trailingGarbage: "The file goes on with other bytes after the end of its compressed data"
        case .cannotRead(let reason): "Cannot read the file: \(reason)"
        case .cannotWrite(let reason): "Cannot write the file: \(reason)"
        case .readerClosed: "The reader of the pipe is gone"
        }
    }
}

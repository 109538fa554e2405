internal import CZlib

/// A stream of zlib for gzip (RFC 1952), with a buffer of 128 KiB. Not safe for use from two threads at a time.
///
/// `@safe`: all pointers that zlib gets point into memory of this object, or into an array for the time of a call.
@safe final class GzipStream {
    private static let chunkBytes = 128 * 1_024
    /// zlib's number for a window of 32 KiB and the format gzip.
    private static let window: Int32 = 15 + 16

    /// zlib keeps a pointer to it, so that it must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkBytes)
    private let end: (UnsafeMutablePointer<z_stream>) -> Int32

    /// A stream that inflates. The buffer holds input.
    init() {
        unsafe end = { unsafe inflateEnd($0) }
        unsafe stream.initialize(to: z_stream())
        let result = unsafe inflateInit2_(stream, Self.window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib cannot allocate memory")
    }

    /// A stream that deflates. The buffer holds output.
    init(level: Int32, memoryLevel: Int32) {
        unsafe end = { unsafe deflateEnd($0) }
        unsafe stream.initialize(to: z_stream())
        let result = unsafe deflateInit2_(
            stream, level, Z_DEFLATED, Self.window, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib cannot allocate memory")
    }

    deinit {
        _ = unsafe end(stream)
        unsafe stream.deallocate()
        unsafe buffer.deallocate()
    }

    // MARK: Inflating

    /// The next byte of the input; `nil` if the input is used up.
    var nextByte: UInt8? { unsafe stream.pointee.avail_in > 0 ? stream.pointee.next_in.pointee : nil }

    /// - Precondition: there is a next byte
    func skipByte() {
        precondition(nextByte != nil)
        unsafe stream.pointee.next_in += 1
        unsafe stream.pointee.avail_in -= 1
    }

    /// Replaces the input, which is used up.
    /// - Returns: the number of bytes; 0 at the end of the file
    /// - Throws: what ``CancellableFile/read(into:)`` throws
    func readInput(from file: CancellableFile) throws -> Int {
        let count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer))
        unsafe stream.pointee.next_in = buffer.baseAddress
        unsafe stream.pointee.avail_in = UInt32(count)
        return count
    }

    /// Begins the next member.
    func beginMember() { _ = unsafe inflateReset(stream) }

    /// - Returns: at most 128 KiB, and zlib's result
    func inflate() -> (output: [UInt8], result: Int32) {
        var result = Z_OK
        let output = unsafe [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { output, count in
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(output.count)
            result = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            count = unsafe output.count - Int(stream.pointee.avail_out)
        }
        return (output, result)
    }

    /// Number of bytes of the member so far, compressed and decompressed.
    var totals: (input: Int, output: Int) { unsafe (Int(stream.pointee.total_in), Int(stream.pointee.total_out)) }

    // MARK: Deflating

    /// - Throws: what ``CancellableFile/write(_:)`` throws
    func deflate(_ bytes: [UInt8], _ flush: Int32, to file: CancellableFile) throws {
        try unsafe bytes.withUnsafeBufferPointer { bytes in
            // zlib reads from this pointer only.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                unsafe stream.pointee.next_out = buffer.baseAddress
                unsafe stream.pointee.avail_out = UInt32(buffer.count)
                _ = unsafe CZlib.deflate(stream, flush)
                let count = unsafe buffer.count - Int(stream.pointee.avail_out)
                try unsafe file.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
                // A full output means that zlib may have more.
            } while unsafe stream.pointee.avail_out == 0
        }
    }
}

/// Why a gzip file cannot be read or written.
public enum GzipError: Error, Hashable, CustomStringConvertible {
    /// The file does not begin as a gzip file does.
    case notGzip
    /// The file ends within a member, or it is empty.
    case truncated
    /// A member is damaged: its data cannot be decompressed, or its checksum or its length is wrong.
    case corrupt
    /// The last member is followed by bytes that are no member and no padding with zeros.
    case trailingGarbage
    case cannotRead(reason: String)
    case cannotWrite(reason: String)
    /// The process at the other end of a pipe no longer reads.
    case readerClosed

    public var description: String {
        switch self {
        case .notGzip: "The file is not a gzip file"
        case .truncated: "The file is incomplete: it ends in the middle of its compressed data"
        case .corrupt: "The file is damaged: its compressed data does not match its checksum"
        case .trailingGarbage: "The file goes on with other bytes after the end of its compressed data"
        case .cannotRead(let reason): "Cannot read the file: \(reason)"
        case .cannotWrite(let reason): "Cannot write the file: \(reason)"
        case .readerClosed: "The reader of the pipe is gone"
        }
    }
}

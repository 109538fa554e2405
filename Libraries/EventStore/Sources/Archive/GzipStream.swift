internal import CZlib

/// A stream of zlib for gzip (RFC 1952), with a buffer of 128 KiB. Not safe for use from two threads at a time.
final class GzipStream {
    static let chunkBytes = 128 * 1_024
    /// zlib's number for a window of 32 KiB and the format gzip.
    private static let window: Int32 = 15 + 16

    /// zlib keeps a pointer to it, so that it must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkBytes)
    private let end: (UnsafeMutablePointer<z_stream>) -> Int32

    /// - Parameters:
    ///   - begin: begins to inflate or deflate, with this window and size of the stream; returns zlib's result
    ///   - end: frees what `begin` allocated
    init(
        begin: (_ stream: UnsafeMutablePointer<z_stream>, _ window: Int32, _ size: Int32) -> Int32,
        end: @escaping (UnsafeMutablePointer<z_stream>) -> Int32
    ) {
        self.end = end
        stream.initialize(to: z_stream())
        let result = begin(stream, Self.window, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib cannot allocate memory")
    }

    deinit {
        _ = end(stream)
        stream.deallocate()
        buffer.deallocate()
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

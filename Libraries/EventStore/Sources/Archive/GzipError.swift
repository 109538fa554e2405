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

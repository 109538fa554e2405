/// Why a tree cannot be read from its directory or written to it.
public enum TreeError: Error, Hashable {
    /// The system refuses a file.
    case fileSystem(doing: String, path: String, reason: String)
    /// Another writer has the directory.
    case inUse(path: String)
    /// The checkpoint says that the file exists.
    case missing(path: String)
    /// The file is not in its format.
    case malformed(path: String, reason: String)
    /// The entry at this index has more than ``EntryBundle/maximumEntryBytes``.
    case entryTooLong(index: Int64, bytes: Int)
    /// The entries do not follow the last one.
    case notNext(expected: Int64, found: Int64)
    /// No entry has this index, or the tree never had this size.
    case outsideOfTree(place: Int64, size: Int64)
    /// The newest checkpoint of the directory, or what it says of the tree, does not hold.
    case checkpoint(ProofError)
}

extension TreeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .fileSystem(let doing, let path, let reason): "cannot \(doing) \(path): \(reason)"
        case .inUse(let path): "another process writes to \(path)"
        case .missing(let path): "the tree has no file \(path), which its checkpoint needs"
        case .malformed(let path, let reason): "\(path) cannot be read: \(reason)"
        case .entryTooLong(let index, let bytes):
            "the entry at index \(index) has \(bytes) bytes, and may have \(EntryBundle.maximumEntryBytes)"
        case .notNext(let expected, let found): "the next entry has index \(expected), not \(found)"
        case .outsideOfTree(let place, let size): "\(place) is outside of the tree of \(size) entries"
        case .checkpoint(let error): "the newest checkpoint does not hold: \(error)"
        }
    }
}

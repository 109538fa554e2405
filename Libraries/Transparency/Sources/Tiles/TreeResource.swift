/// A file of a published tree, by its path below the log's prefix (C2SP `tlog-tiles`).
public enum TreeResource: Sendable, Hashable {
    /// The newest checkpoint, the only file that changes.
    case checkpoint
    /// Never changes. A partial tile goes when the full one is there.
    case tile(Tile)

    /// Reads a path such as `checkpoint` or `tile/0/x001/067`. `nil` for every other text, such as one with `..` or with a second way to
    /// write a number.
    public init?(path: some StringProtocol) {
        if path.utf8.elementsEqual("checkpoint".utf8) {
            self = .checkpoint
        } else if let tile = Tile(path: path) {
            self = .tile(tile)
        } else {
            return nil
        }
    }

    public var path: String {
        switch self {
        case .checkpoint: "checkpoint"
        case .tile(let tile): tile.path
        }
    }

    public var contentType: String {
        switch self {
        case .checkpoint: "text/plain; charset=utf-8"
        case .tile: "application/octet-stream"
        }
    }

    /// The most bytes of the file: of hashes exactly so many.
    var maximumBytes: Int {
        switch self {
        case .checkpoint: SignedNote.maximumBytes
        case .tile(let tile):
            switch tile.content {
            case .hashes: tile.width * 32
            case .entries: tile.width * (2 + EntryBundle.maximumEntryBytes)
            }
        }
    }
}

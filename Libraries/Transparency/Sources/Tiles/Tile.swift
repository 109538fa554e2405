/// A file with a part of a tree: up to 256 hashes or entries that lie side by side (C2SP `tlog-tiles`).
public struct Tile: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
        /// Hashes of perfect subtrees of height 8 × level, so of leaves at level 0.
        case hashes(level: Int)
        case entries
    }

    /// The binary logarithm of ``fullWidth``: so many levels of the tree lie between two levels of tiles.
    static let height = 8
    public static let fullWidth = 256
    /// The levels of a tree of ``MerkleTree/maximumSize``.
    static let levels = 0..<8

    public let content: Content
    /// The place among the tiles of one level, from 0.
    public let index: Int64
    /// 1 to 256; less than 256 in a partial tile, at the right end of the tree.
    public let width: Int

    init(_ content: Content, index: Int64, width: Int = Self.fullWidth) {
        (self.content, self.index, self.width) = (content, index, width)
    }

    var isFull: Bool { width == Self.fullWidth }
    /// The same place with 256 hashes or entries.
    var full: Tile { Tile(content, index: index) }
    /// The folder of the partial tiles of this place.
    var partialFolder: String { full.path + ".p" }

    /// The path below the log's prefix, such as `tile/0/x001/067` or `tile/entries/000.p/17`.
    public var path: String {
        let level =
            switch content {
            case .hashes(let level): String(level)
            case .entries: "entries"
            }
        var (elements, rest) = ([Self.threeDigits(index % 1_000)], index / 1_000)
        while rest > 0 {
            elements.insert("x" + Self.threeDigits(rest % 1_000), at: 0)
            rest /= 1_000
        }
        return "tile/\(level)/\(elements.joined(separator: "/"))" + (isFull ? "" : ".p/\(width)")
    }

    private static func threeDigits(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension Tile {
    /// Reads a path. `nil` unless it is written exactly as ``path`` writes it.
    init?(path: some StringProtocol) {
        guard path.utf8.count <= Self.maximumPathBytes else { return nil }
        var elements = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }[...]
        guard elements.popFirst() == "tile", let level = elements.popFirst() else { return nil }
        if level == "entries" {
            content = .entries
        } else if let level = Int64(plainDigits: level), level < 64 {
            content = .hashes(level: Int(level))
        } else {
            return nil
        }
        var width = Self.fullWidth
        if elements.count > 1, elements[elements.endIndex - 2].hasSuffix(".p") {
            guard let partial = elements.popLast().flatMap({ Int64(plainDigits: $0) }), (1..<256).contains(partial),
                let last = elements.popLast()
            else { return nil }
            width = Int(partial)
            elements.append(String(last.dropLast(2)))
        }
        guard elements.count <= Self.maximumElements else { return nil }
        var index: Int64 = 0
        for element in elements {
            let digits = element.suffix(3)
            guard digits.utf8.count == 3, let number = Int64(digits), number >= 0 else { return nil }
            index = index * 1_000 + number
        }
        (self.index, self.width) = (index, width)
        guard self.path.utf8.elementsEqual(path.utf8) else { return nil }
    }

    /// Longer than any path that is accepted.
    private static let maximumPathBytes = 64
    /// Three digits each, so that every index is in range.
    private static let maximumElements = 6
}

extension Tile {
    /// The tile with a hash of a level or an entry.
    /// - Parameters:
    ///   - place: the number of hashes or entries before it
    ///   - size: that of the tree, which says how wide the tile is
    init(_ content: Content, with place: Int64, in size: Int64) {
        let index = place / Int64(Self.fullWidth)
        let count = size >> (Self.height * content.level)
        self.init(content, index: index, width: Int(min(Int64(Self.fullWidth), count - index * Int64(Self.fullWidth))))
    }

    /// The partial tile at the right end of a tree; `nil` if the tree has none at this level.
    init?(last content: Content, of size: Int64) {
        let count = size >> (Self.height * content.level)
        guard count % Int64(Self.fullWidth) > 0 else { return nil }
        self.init(content, index: count / Int64(Self.fullWidth), width: Int(count % Int64(Self.fullWidth)))
    }
}

extension Tile.Content {
    /// Entries lie beside the hashes of level 0.
    fileprivate var level: Int {
        switch self {
        case .hashes(let level): level
        case .entries: 0
        }
    }
}

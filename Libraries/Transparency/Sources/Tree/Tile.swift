/// A part of a tree: up to 256 hashes of one level that lie side by side, or the entries below them (C2SP `tlog-tiles`).
public struct Tile: Sendable, Hashable {
    public static let fullWidth = 256
    /// The binary logarithm of ``fullWidth``: so many levels of the tree lie between two levels of tiles.
    static let height = 8
    /// The levels of a tree of ``MerkleTree/maximumSize``.
    static let levels = 0..<8

    /// Level L has the hashes of perfect subtrees of 256^L leaves, so level 0 those of leaves; `nil` for entries.
    public let level: Int?
    /// The place among the tiles of one level, from 0.
    public let index: Int64
    /// 1 to 256; less than 256 in a partial tile, at the right end of a tree.
    public let width: Int

    public init(level: Int?, index: Int64, width: Int = Self.fullWidth) {
        (self.level, self.index, self.width) = (level, index, width)
    }

    /// The partial tile at the right end of a tree; `nil` if the tree has none at this level.
    init?(last level: Int, of size: Int64) {
        let (index, width) = (size >> (Self.height * level)).quotientAndRemainder(dividingBy: Int64(Self.fullWidth))
        guard width > 0 else { return nil }
        self.init(level: level, index: index, width: Int(width))
    }

    /// The same place with 256 hashes or entries.
    public var full: Tile { Tile(level: level, index: index) }

    /// The path below the log's prefix, such as `tile/0/x001/067` or `tile/entries/000.p/17`.
    public var path: String {
        var (elements, rest) = ([Self.threeDigits(index % 1_000)], index / 1_000)
        while rest > 0 {
            elements.insert("x" + Self.threeDigits(rest % 1_000), at: 0)
            rest /= 1_000
        }
        let partial = width == Self.fullWidth ? "" : ".p/\(width)"
        return "tile/\(level.map { String($0) } ?? "entries")/\(elements.joined(separator: "/"))\(partial)"
    }

    /// Reads a path. `nil` unless it is written exactly as ``path`` writes it.
    public init?(path: some StringProtocol) {
        let form = /tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([0-9]{1,3}))?/
        guard let match = String(path).wholeMatch(of: form) else { return nil }
        level = Int(match.1)
        index = match.2.split(separator: "/").reduce(0) { $0 * 1_000 + (Int64($1.suffix(3)) ?? 0) }
        width = match.3.flatMap { Int($0) } ?? Self.fullWidth
        guard (1...Self.fullWidth).contains(width), (level ?? 0) < 64, self.path.utf8.elementsEqual(path.utf8) else { return nil }
    }

    private static func threeDigits(_ number: Int64) -> String { String(String(number + 1_000).dropFirst()) }
}

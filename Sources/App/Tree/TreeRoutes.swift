internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore
internal import Synchronization
internal import Transparency

/// The tree for monitors and witnesses, in the formats of C2SP `tlog-tiles`: `/tlog/checkpoint` and `/tlog/tile/…`, without a token.
final class TreeRoutes: Sendable {
    private static let prefix = "/tlog/"
    /// Requests for one client address. Each asks PostgreSQL.
    private static let requestsPerMinute = 1_200
    /// Bundles of entries at a time: PostgreSQL computes up to 512 digests for one.
    private static let bundleLimit = 2

    private let tree: LogTree
    private let requests = RateLimiter(perMinute: requestsPerMinute)
    private let bundles = Atomic(0)

    init(_ tree: LogTree) { self.tree = tree }

    var routes: [Route] {
        // An index has three digits in each part, and a partial tile has one part more.
        let tiles = (1...6).map { parts in (1...parts).map { "/{part\($0)}" }.joined() }.map { "\(Self.prefix)tile/{level}\($0)" }
        return ([Self.prefix + "checkpoint"] + tiles).map { Route(.get, $0, "", respond) }
    }

    private func respond(to request: Request, _ context: RequestContext) async throws -> Response {
        try requests.take(context.sender(of: request).address?.subscriber)
        let path = request.path.dropFirst(Self.prefix.count)
        if path == "checkpoint" {
            guard let note = try await tree.newest() else { throw HTTPError.notFound }
            return Response(
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-cache"],
                body: ByteBuffer(bytes: note.bytes))
        }
        guard let tile = Tile(path: path), let bytes = try await bytes(of: tile) else { throw HTTPError.notFound }
        return Response(
            headers: [.contentType: "application/octet-stream", .cacheControl: "public, max-age=31536000, immutable"],
            body: ByteBuffer(bytes: bytes))
    }

    /// - Throws: ``BrokenTree`` if the log's entries do not have the hashes of the tree
    private func bytes(of tile: Tile) async throws -> [UInt8]? {
        let place = Tile(level: tile.level ?? 0, index: tile.index)
        guard let hashes = try await tree.hashes(of: [place])[place]?.prefix(tile.width), hashes.count == tile.width else {
            return nil
        }
        guard tile.level == nil else { return Array(hashes.joined()) }
        defer { bundles.subtract(1, ordering: .relaxed) }
        guard bundles.add(1, ordering: .relaxed).newValue <= Self.bundleLimit else { throw HTTPError.overloaded }
        let entries = try await tree.entries(from: tile.index * Int64(Tile.fullWidth), count: Int64(tile.width))
        guard entries.map({ MerkleTree.leafHash(of: $0) }) == Array(hashes) else {
            throw BrokenTree(reason: "the entries of \(tile.path) do not have the hashes of the tree")
        }
        // Each entry stands behind its length in two bytes.
        return entries.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
    }
}

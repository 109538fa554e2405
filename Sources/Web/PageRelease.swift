internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Hashing

/// The files of one release of the map page, as responses.
///
/// The path of every file but the page itself contains a digest of all files: `/assets/3f2a91c07b1e44d2/app.js`. So caches may keep a
/// file for ever, and files refer to each other by relative names, without a bundler.
struct PageRelease: Sendable {
    /// The digest of all files, in hexadecimal digits.
    let digest: String
    private let page: StaticResponse
    /// The responses under the path of this release, and of another one, for a page of another node during a deployment.
    private let assets: [String: (immutable: StaticResponse, momentary: Response)]

    private static let pageName = "index.html"
    private static let digestBytes = 8
    /// One year, which RFC 9111 calls for ever.
    private static let immutable = "public, max-age=31536000, immutable"
    private static let momentary = "no-store"

    init(_ files: [PageFile] = PageFile.all, tiles: Tiles?) {
        let contents = (files + [PageFile.coastDigest]).flatMap { Array("\($0.name) \($0.bytes.count)\n".utf8) + $0.bytes }
        let settings = "\(tiles?.template ?? "") \(tiles?.attribution ?? "")".utf8
        let bytes = SHA256.hash(contents + settings).prefix(Self.digestBytes)
        digest = bytes.hexadecimal
        let version = bytes.reduce(0) { $0 << 8 | Int64($1) } & .max
        var page = files.first { $0.name == Self.pageName } ?? PageFile(name: Self.pageName, bytes: [])
        page.fill(digest: digest, modules: files.map(\.name).filter { $0.hasSuffix(".js") }.sorted(), tiles: tiles)
        self.page = StaticResponse(Response(page, cacheControl: "no-cache"), version: version)
        let pairs = files.filter { $0.name != Self.pageName && $0.mediaType != nil }.map { file in
            let asset = (
                immutable: StaticResponse(Response(file, cacheControl: Self.immutable), version: version),
                momentary: Response(file, cacheControl: Self.momentary)
            )
            return (file.name, asset)
        }
        assets = Dictionary(uniqueKeysWithValues: pairs)
    }

    func page(for request: Request) -> Response { page.response(to: request) }

    /// - Parameter request: a request of `/assets/{release}/{file}`
    /// - Throws: `HTTPError.notFound`
    func asset(for request: Request, release: Substring) throws(HTTPError) -> Response {
        guard let name = request.path.split(separator: "/").last else { throw .notFound }
        if let asset = assets[String(name)] { return release == digest ? asset.immutable.response(to: request) : asset.momentary }
        guard let tile = PageFile.coast(named: name) else { throw .notFound }
        var response = Response(tile, cacheControl: release == digest ? Self.immutable : Self.momentary)
        response.headers[.contentType] = "text/plain; charset=utf-8"
        response.headers[.contentEncoding] = ContentCoding.gzip.rawValue
        return response
    }
}

extension PageFile {
    /// Puts the values that the program knows at its start into the page.
    fileprivate mutating func fill(digest: String, modules: [String], tiles: Tiles?) {
        let base = "/assets/\(digest)"
        // Without these lines a browser would find each module only after it has read the one that imports it.
        let preloads = modules.filter { $0 != "leaflet.js" }.map { #"<link rel="modulepreload" href="\#(base)/\#($0)">"# }
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing("{{assets}}", with: base)
            .replacing("{{modulepreloads}}", with: preloads.joined(separator: "\n"))
            .replacing("{{tiles}}", with: (tiles?.template ?? "").escapedForHTML)
            .replacing("{{attribution}}", with: (tiles?.attribution ?? "").escapedForHTML)
        bytes = Array(text.utf8)
    }
}

extension String {
    fileprivate var escapedForHTML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}

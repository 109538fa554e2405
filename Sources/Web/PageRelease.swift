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
    /// The page in each language. The first one is for clients that ask for none of them.
    private let pages: [(language: String, response: StaticResponse)]
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
        let digest = bytes.hexadecimal
        self.digest = digest
        let version = Self.version(bytes)
        let page = files.first { $0.name == Self.pageName } ?? PageFile(name: Self.pageName, bytes: [])
        let modules = files.map(\.name).filter { $0.hasSuffix(".js") }.sorted()
        pages = files.compactMap { file -> (language: String, response: StaticResponse)? in
            guard let language = file.language else { return nil }
            let filled = page.filled(language: language, texts: file.bytes, digest: digest, modules: modules, tiles: tiles)
            var response = Response(filled, cacheControl: "no-cache")
            response.headers[.contentLanguage] = language
            response.headers[.vary] = "Accept-Language"
            // Each language has a tag of its own.
            return (language, StaticResponse(response, version: Self.version(SHA256.hash("\(digest) \(language)".utf8))))
        }
        let pairs = files.filter { $0.name != Self.pageName && $0.mediaType != nil }.map { file in
            let asset = (
                immutable: StaticResponse(Response(file, cacheControl: Self.immutable), version: version),
                momentary: Response(file, cacheControl: Self.momentary)
            )
            return (file.name, asset)
        }
        assets = Dictionary(uniqueKeysWithValues: pairs)
        precondition(!pages.isEmpty, "the files have texts in a language")
    }

    /// The page in the language of `?lang=`, else in that of `Accept-Language`.
    func page(for request: Request) -> Response {
        let languages = pages.map(\.language)
        let asked = request.query?.split(separator: "&").first { $0.hasPrefix("lang=") }?.dropFirst("lang=".count)
        // `de-AT` stands for `de`, as in the field.
        let named = asked?.prefix { $0 != "-" }.lowercased()
        let language = named.flatMap { languages.contains($0) ? $0 : nil } ?? request.preferredLanguage(of: languages)
        let page = pages.first { $0.language == language } ?? pages[0]
        return page.response.response(to: request)
    }

    /// The version in the entity tag of a file, from the first bytes of a digest.
    private static func version(_ digest: some Sequence<UInt8>) -> Int64 {
        digest.prefix(digestBytes).reduce(0) { $0 << 8 | Int64($1) } & .max
    }

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
    /// The language of a file of texts, such as `de` of `de.json`: a tag of two or three letters in lower case, without a region.
    fileprivate var language: String? { name.hasSuffix(".json") ? String(name.dropLast(".json".count)) : nil }

    /// The page with the texts of a language, and with the values that the program knows at its start.
    fileprivate func filled(
        language: String, texts: [UInt8], digest: String, modules: [String], tiles: Tiles?
    ) -> PageFile {
        let base = "/assets/\(digest)"
        // Without these lines a browser would find each module only after it has read the one that imports it.
        let preloads = modules.filter { $0 != "leaflet.js" }.map { #"<link rel="modulepreload" href="\#(base)/\#($0)">"# }
        let values = [
            "assets": base, "language": language, "modulepreloads": preloads.joined(separator: "\n"),
            "tiles": (tiles?.template ?? "").escapedForHTML, "attribution": (tiles?.attribution ?? "").escapedForHTML,
        ]
        let table = try? JSON(utf8: texts)
        let filled = String(decoding: bytes, as: UTF8.self).replacing(/\{\{([a-z.]+)\}\}/) { place -> String in
            let name = String(place.1)
            if let value = values[name] { return value }
            guard case .string(let text)? = table?[name] else { return name }
            return text.escapedForHTML
        }
        return PageFile(name: name, bytes: Array(filled.utf8))
    }
}

extension String {
    fileprivate var escapedForHTML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}

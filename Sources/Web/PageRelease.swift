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
    private let pages: [(texts: PageTexts, response: StaticResponse)]
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
        let hash = SHA256.hash(contents + settings)
        let digest = hash.prefix(Self.digestBytes).hexadecimal
        self.digest = digest
        let page = files.first { $0.name == Self.pageName } ?? PageFile(name: Self.pageName, bytes: [])
        let modules = files.map(\.name).filter { $0.hasSuffix(".js") }.sorted()
        pages = files.compactMap { file -> (texts: PageTexts, response: StaticResponse)? in
            guard let language = file.language else { return nil }
            // Each language has a tag of its own.
            let version = SHA256.hash("\(digest) \(language)".utf8).number
            let texts = PageTexts(file, language: language)
            let filled = page.filled(with: texts, digest: digest, modules: modules, tiles: tiles)
            var response = Response(filled, cacheControl: "no-cache")
            response.headers[.contentLanguage] = language
            response.headers[.vary] = "Accept-Language"
            return (texts, StaticResponse(response, version: version))
        }
        let pairs = files.filter { $0.name != Self.pageName && $0.mediaType != nil }.map { file in
            let asset = (
                immutable: StaticResponse(Response(file, cacheControl: Self.immutable), version: hash.number),
                momentary: Response(file, cacheControl: Self.momentary)
            )
            return (file.name, asset)
        }
        assets = Dictionary(uniqueKeysWithValues: pairs)
        precondition(!pages.isEmpty, "the files have texts in a language")
    }

    /// The map page in the visitor's language.
    func page(for request: Request) -> Response { pages[index(for: request)].response.response(to: request) }

    /// The texts in each language.
    var texts: [PageTexts] { pages.map(\.texts) }

    /// The texts in the visitor's language.
    func texts(for request: Request) -> PageTexts { pages[index(for: request)].texts }

    /// The place of the language of `?lang=`, else of that of `Accept-Language`.
    private func index(for request: Request) -> Int {
        let languages = pages.map(\.texts.language)
        let asked = request.query.flatMap {
            String($0).parts(separatedBy: "&", atMost: 64).first { $0.utf8.starts(with: "lang=".utf8) }
        }?
        .dropFirst("lang=".count)
        // `de-AT` stands for `de`, as in the field.
        let named = asked?.prefix { $0 != "-" }.lowercased()
        let language = named.flatMap { languages.contains($0) ? $0 : nil } ?? request.preferredLanguage(of: languages)
        return language.flatMap { languages.firstIndex(of: $0) } ?? 0
    }

    /// Another page than the map.
    /// - Parameters:
    ///   - script: a module beside it, which it can do without; `nil` for none
    ///   - head: what its head has beside the title
    func document(in texts: PageTexts, title: String, script: String? = nil, head: HTML = "", _ body: HTML) -> HTML {
        let base = "/assets/\(digest)"
        let module: HTML =
            script.map { script in
                """

                <link rel="preload" as="fetch" crossorigin href="\(base)/\(texts.language).json">
                <script type="module" src="\(base)/\(script)"></script>
                """
            } ?? ""
        return """
            <!doctype html>
            <html lang="\(texts.language)" dir="\(texts["page.direction"])">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            \(head)
            <link rel="icon" href="\(base)/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="\(base)/page.css">\(module)
            </head>
            <body class="paper" data-assets="\(base)" data-language="\(texts.language)">
            <header><a href="/" target="_top"><img src="\(base)/icon.svg" alt="" width="24" height="24"> <span translate="no">Humon</span></a></header>
            <main>
            \(body)
            </main>
            <p id="announcement" role="status"></p>
            </body>
            </html>

            """
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
    fileprivate func filled(with texts: PageTexts, digest: String, modules: [String], tiles: Tiles?) -> PageFile {
        let base = "/assets/\(digest)"
        // Without these lines a browser would find each module only after it has read the one that imports it.
        let preloads = modules.filter { !["leaflet.js", "event.js"].contains($0) }.map {
            #"<link rel="modulepreload" href="\#(base)/\#($0)">"#
        }
        let values = [
            "assets": base, "language": texts.language, "modulepreloads": preloads.joined(separator: "\n"),
            "tiles": (tiles?.template ?? "").escapedForHTML, "attribution": (tiles?.attribution ?? "").escapedForHTML,
        ]
        let filled = String(decoding: bytes, as: UTF8.self).replacing(/\{\{([a-z.]+)\}\}/) { place -> String in
            let name = String(place.1)
            return values[name] ?? texts[name].escapedForHTML
        }
        return PageFile(name: name, bytes: Array(filled.utf8))
    }
}

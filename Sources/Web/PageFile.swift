internal import CEmbeddedPage
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

/// A file of the map page, which travels inside the program.
struct PageFile: Sendable {
    /// Its name in a URL, such as `page.css`.
    var name: String
    var bytes: [UInt8]

    /// Constants of the program in C, each with its length.
    static let all: [PageFile] = unsafe UnsafeBufferPointer(start: web_files, count: web_file_count).map { file in
        unsafe PageFile(name: String(cString: file.name), file)
    }

    /// Bytes that change with any tile of the coast.
    static let coastDigest = unsafe PageFile(name: "coast", web_coast_digest())

    /// A tile of the coast: a gzip file of the data of an SVG path.
    /// - Parameter name: for example `coast-9-275-168`: zoom, column and row
    /// - Returns: `nil` if the name belongs to no tile
    static func coast(named name: some StringProtocol) -> PageFile? {
        let numbers = name.split(separator: "-").dropFirst().compactMap { UInt32($0) }
        guard numbers.count == 3, name == "coast-\(numbers[0])-\(numbers[1])-\(numbers[2])" else { return nil }
        let tile = unsafe PageFile(name: String(name), web_coast_tile(numbers[0], numbers[1], numbers[2]))
        return tile.bytes.isEmpty ? nil : tile
    }

    /// `nil` for a file without a known suffix, which is not served.
    var mediaType: String? {
        switch name.split(separator: ".").last {
        case "html": HTML.mediaType
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "json", "topojson": "application/json; charset=utf-8"
        case "txt": "text/plain; charset=utf-8"
        case "tsv": "text/tab-separated-values; charset=utf-8"
        default: nil
        }
    }
}

extension PageFile {
    private init(name: String, _ file: web_file) {
        self.init(name: name, bytes: unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }
}

extension MapPage {
    /// Tables of the page, which the demo uses too.
    package static let (cities, zones) = (table("cities.tsv"), table("zones.tsv"))

    private static func table(_ name: String) -> String {
        guard let file = PageFile.all.first(where: { $0.name == name }) else { preconditionFailure("CEmbeddedPage has \(name)") }
        return String(decoding: file.bytes, as: UTF8.self)
    }
}

extension Response {
    /// - Parameter cacheControl: how long caches may keep the file
    init(_ file: PageFile, cacheControl: String) {
        self.init(
            headers: [.contentType: file.mediaType ?? "application/octet-stream", .cacheControl: cacheControl],
            body: ByteBuffer(bytes: file.bytes))
    }
}

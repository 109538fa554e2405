internal import CWebPage
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
        unsafe PageFile(name: String(cString: file.name), bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }

    /// `nil` for a file without a known suffix, which is not served.
    var mediaType: String? {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "topojson": "application/json; charset=utf-8"
        case "txt": "text/plain; charset=utf-8"
        case "tsv": "text/tab-separated-values; charset=utf-8"
        default: nil
        }
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

internal import CDocumentation
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore

extension API {
    var serviceRoutes: [Route] {
        let alive = Response(jsonBytes: ByteBuffer(string: #"{"status":"ok"}"#))
        let (openAPI, page) = (Document.openAPI, Document.page)
        return [
            Route.immediate(.get, "/v1/openapi.json", "getOpenAPI") { request, _ in openAPI.response(to: request) },
            Route(.get, "/docs", "getDocumentation", limit: .computing) { request, _ in page.response(to: request) },
            Route.immediate(.get, "/health/live", "getLiveness") { _, _ in alive },
            // Not limited: an overloaded node must answer this.
            Route(.get, "/health", "getHealth", limit: .unlimited) { _, _ in await health().response },
        ]
    }
}

/// A response that never changes while the program runs.
private struct Document: Sendable {
    /// `docs/openapi.yaml` as JSON.
    static let openAPI = Document(Response(jsonBytes: ByteBuffer(bytes: embedded(documentation_openapi_json))))

    /// The same for people to read. The page may use its own style and nothing else. Source: W3C *Content Security Policy*, level 3.
    static let page = Document(
        Response(
            headers: [
                .contentType: "text/html; charset=utf-8",
                .contentSecurityPolicy: "default-src 'none'; style-src 'sha256-"
                    + Data(SHA256.hash(embedded(documentation_docs_css))).base64EncodedString()
                    + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ],
            body: ByteBuffer(bytes: embedded(documentation_docs_html))))

    private let whole: Response
    private let tag: EntityTag

    private init(_ response: Response) {
        var whole = response
        let digest = SHA256.hash(response.body.readableBytesView).prefix(8).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        tag = EntityTag(version: Int64(digest >> 1))
        whole.headers[.eTag] = tag.description
        whole.setCacheControl(for: .everyone)
        self.whole = whole
    }

    /// A text of the program in C.
    /// - Parameter byte: the byte of the text at an index, and 0 behind its last byte
    private static func embedded(_ byte: @escaping (Int) -> UInt8) -> [UInt8] {
        Array((0...).lazy.map(byte).prefix(while: { $0 != 0 }))
    }

    func response(to request: Request) -> Response {
        guard request.matchesIfNoneMatch(tag) else { return whole }
        var response = whole
        response.status = .notModified
        response.headers[.contentType] = nil
        response.body.clear()
        return response
    }
}

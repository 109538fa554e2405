internal import CDocumentation
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore

extension API {
    var serviceRoutes: [Route] {
        let alive = Response(jsonBytes: ByteBuffer(string: #"{"status":"ok"}"#))
        let (openAPI, page) = (Self.openAPI, Self.documentation)
        return [
            Route.immediate(.get, "/v1/openapi.json", "getOpenAPI") { request, _ in openAPI.response(to: request) },
            Route.immediate(.get, "/docs", "getDocumentation") { request, _ in page.response(to: request) },
            Route.immediate(.get, "/health/live", "getLiveness") { _, _ in alive },
            // Not limited: an overloaded node must answer this.
            Route(.get, "/health", "getHealth", limit: .unlimited) { _, _ in await health().response },
        ]
    }

    /// `docs/openapi.yaml` as JSON.
    private static let openAPI = StaticResponse(embedding: Response(jsonBytes: embedded(documentation_openapi_json)))

    /// The same for people to read. The page may use its own style, its own script and this server, and nothing else.
    /// Source: W3C *Content Security Policy*, level 3.
    private static let documentation = StaticResponse(
        embedding: Response(
            headers: [
                .contentType: "text/html; charset=utf-8",
                .contentSecurityPolicy: """
                default-src 'none'; style-src \(source(documentation_docs_css)); script-src \(source(documentation_docs_js)); \
                connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
                """,
            ],
            body: embedded(documentation_docs_html)))

    /// The source of a policy that admits a text inside of the page.
    private static func source(_ byte: (Int) -> UInt8) -> String {
        "'sha256-\(Data(SHA256.hash(embedded(byte).readableBytesView)).base64EncodedString())'"
    }
}

extension StaticResponse {
    /// The digest of the body is the version of the response.
    fileprivate init(embedding response: Response) {
        var response = response
        response.setCacheControl(for: .everyone)
        self.init(response, version: SHA256.hash(response.body.readableBytesView).number)
    }
}

/// A text of the program in C. Into an array first: a buffer takes a sequence byte by byte, which needs a second in a debug build.
/// - Parameter byte: the byte of the text at an index, and 0 behind its last byte
private func embedded(_ byte: (Int) -> UInt8) -> ByteBuffer {
    var bytes: [UInt8] = []
    while case let next = byte(bytes.count), next != 0 { bytes.append(next) }
    return ByteBuffer(bytes: bytes)
}

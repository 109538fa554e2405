internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import NIOCore
internal import Synchronization

extension API {
    var serviceRoutes: [Route] {
        let alive = Response(jsonBytes: ByteBuffer(string: #"{"status":"ok"}"#))
        // Made here and not by the first request, which runs on an event loop.
        let documents = Documents.serving(apps)
        return [
            Route.immediate(.get, "/v1/openapi.json", "getOpenAPI") { request, _ in documents.openAPI.response(to: request) },
            // The first request makes the page, in a task: it takes about 0.3 s, which every start would take more.
            Route(.get, "/docs", "getDocumentation", limit: .computing) { request, _ in documents.page.response(to: request) },
            Route.immediate(.get, "/health/live", "getLiveness") { _, _ in alive },
            // Not limited: an overloaded node must answer this.
            Route(.get, "/health", "getHealth", limit: .unlimited) { _, _ in await health().response },
        ]
    }
}

/// The documents of a server, made once for a process: the tests have hundreds of APIs in one.
private final class Documents: Sendable {
    private static let made = Mutex<[Set<ServedApp>: Documents]>([:])

    let openAPI: Document
    private let json: JSON
    private let madePage = Mutex<Document?>(nil)

    private init(_ apps: Set<ServedApp>) {
        json = OpenAPIDocument.json(serving: apps)
        openAPI = Document(Response(jsonBytes: ByteBuffer(bytes: json.utf8)))
    }

    static func serving(_ apps: Set<ServedApp>) -> Documents {
        made.withLock { made in
            let documents = made[apps] ?? Documents(apps)
            made[apps] = documents
            return documents
        }
    }

    var page: Document {
        madePage.withLock { made in
            let page = made ?? Document(DocumentationPage.response(json))
            made = page
            return page
        }
    }
}

/// A response that never changes while the program runs.
private struct Document: Sendable {
    private let whole: Response
    private let tag: EntityTag

    init(_ response: Response) {
        var whole = response
        let digest = SHA256.hash(response.body.readableBytesView).prefix(8).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        tag = EntityTag(version: Int64(digest >> 1))
        whole.headers[.eTag] = tag.description
        whole.setCacheControl(for: .everyone)
        self.whole = whole
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

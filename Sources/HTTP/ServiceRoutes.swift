internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension API {
    var serviceRoutes: [Route] {
        let alive = Answer(jsonBytes: ByteBuffer(string: #"{"status":"ok"}"#))
        let document = Document(Answer(jsonBytes: ByteBuffer(bytes: OpenAPIDocument.utf8)))
        let page = Document(DocumentationPage.answer)
        return [
            Route(.get, "/v1/openapi.json", "getOpenAPI") { request, _ in document.answer(to: request) },
            Route(.get, "/docs", "getDocumentation") { request, _ in page.answer(to: request) },
            Route(.get, "/health/live", "getLiveness") { _, _ in alive },
            Route(.get, "/health", "getHealth") { _, _ in await health().answer },
        ]
    }
}

/// What is the same as long as the program is.
private struct Document: Sendable {
    private let whole: Answer
    private let tag: EntityTag

    init(_ answer: Answer) {
        var whole = answer
        let digest = SHA256.hash(data: answer.body.readableBytesView).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        tag = EntityTag(version: Int64(digest >> 1))
        whole.headers[.eTag] = tag.description
        whole.mayBeKept(where: .everyone)
        self.whole = whole
    }

    func answer(to request: Request) -> Answer {
        guard request.knows(tag) else { return whole }
        var answer = whole
        answer.status = .notModified
        answer.headers[.contentType] = nil
        answer.body.clear()
        return answer
    }
}

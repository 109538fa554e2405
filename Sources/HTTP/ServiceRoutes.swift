internal import Hummingbird
internal import NIOCore

extension API {
    var serviceRoutes: [Route] {
        let document = ByteBuffer(bytes: OpenAPIDocument.utf8)
        let alive = ByteBuffer(string: #"{"status":"ok"}"#)
        return [
            Route(.get, "/v1/openapi.json", "getOpenAPI") { _, _ in Response(jsonBytes: document) },
            Route(.get, "/docs", "getDocumentation") { _, _ in DocumentationPage.response },
            Route(.get, "/health/live", "getLiveness") { _, _ in Response(jsonBytes: alive) },
            Route(.get, "/health", "getHealth") { _, _ in await health().response },
        ]
    }
}

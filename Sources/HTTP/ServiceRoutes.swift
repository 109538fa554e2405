internal import Hummingbird
internal import NIOCore
internal import Notation

extension API {
    var serviceRoutes: [Route] {
        let document = ByteBuffer(bytes: OpenAPIDocument.utf8)
        return [
            Route(.get, "/v1/openapi.json", "getOpenAPI") { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
                    body: ResponseBody(byteBuffer: document))
            },
            Route(.get, "/health", "getHealth") { _, _ in await health().response },
        ]
    }
}

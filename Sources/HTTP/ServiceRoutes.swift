internal import Hummingbird
internal import NIOCore
internal import Notation

extension API {
    var serviceRoutes: [Route] {
        let document = ByteBuffer(bytes: OpenAPIDocument.utf8)
        let health: JSON = ["status": "ok"]
        let alive = ByteBuffer(bytes: health.utf8)
        return [
            Route(.get, "/v1/openapi.json", "getOpenAPI") { _, _ in Response(jsonBytes: document) },
            Route(.get, "/health/live", "getLiveness") { _, _ in Response(jsonBytes: alive) },
            Route(.get, "/health", "getHealth") { _, _ in
                do { try await checkHealth() } catch { throw Refusal.unavailable }
                return Response(json: health)
            },
        ]
    }
}

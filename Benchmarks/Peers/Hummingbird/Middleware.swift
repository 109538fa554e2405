internal import HTTPServer
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Sends Hummingbird's id of each request back, as humon does.
struct RequestIDs: RouterMiddleware {
    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        var response = try await next(request, context)
        if let name = HTTPField.Name("x-request-id") { response.headers[name] = context.id }
        return response
    }
}

/// Compresses responses from 1 KiB on with humon's compressor, because Hummingbird has none of its own.
struct Gzip: RouterMiddleware {
    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        var response = try await next(request, context)
        guard response.body.contentLength ?? 0 >= 1_024 else { return response }
        response.headers[.vary] = "Accept-Encoding"
        guard request.headers[.acceptEncoding]?.contains("gzip") == true else { return response }
        let collected = Collected()
        try await response.body.write(Collector(into: collected))
        guard let compressed = ContentCoding.gzip.compress(collected.bytes) else { return response }
        response.headers[.contentEncoding] = ContentCoding.gzip.rawValue
        response.body = ResponseBody(byteBuffer: compressed)
        return response
    }

    private final class Collected {
        var bytes = ByteBuffer()
    }

    private struct Collector: ResponseBodyWriter {
        private let collected: Collected

        init(into collected: Collected) { self.collected = collected }

        mutating func write(_ buffer: ByteBuffer) { collected.bytes.writeImmutableBuffer(buffer) }

        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

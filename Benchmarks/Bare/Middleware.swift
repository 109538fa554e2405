internal import HTTPServer
internal import HTTPTypes
internal import Hummingbird

extension HTTPField.Name {
    static let deviceToken = HTTPField.Name(literal: "tb-device-token")
    static let humonPosition = HTTPField.Name(literal: "humon-position")
    static let requestID = HTTPField.Name(literal: "x-request-id")
}

/// Sends Hummingbird's id of each request back, as humon does.
struct RequestIDs: RouterMiddleware {
    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        var response = try await next(request, context)
        response.headers[.requestID] = context.id
        return response
    }
}

/// Compresses responses as humon does: from 1,024 bytes on, whole, by ISA-L, with `Vary` and a tag of its own.
struct Gzip: RouterMiddleware {
    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        var response = try await next(request, context)
        guard response.body.contentLength ?? 0 >= Compression.minimumBytes else { return response }
        response.headers[.vary] = "Accept-Encoding"
        guard request.headers[.acceptEncoding]?.contains("gzip") == true else { return response }
        let collected = Collected()
        try await response.body.write(Collector(into: collected))
        guard let compressed = ContentCoding.gzip.compress(collected.bytes) else { return response }
        response.headers[.contentEncoding] = ContentCoding.gzip.rawValue
        if let tag = response.headers[.eTag] { response.headers[.eTag] = "\(tag.dropLast())-gzip\"" }
        response.body = ResponseBody(byteBuffer: compressed)
        return response
    }

    private final class Collected {
        var bytes = ByteBuffer()
    }

    private struct Collector: ResponseBodyWriter {
        private let collected: Collected

        init(into collected: Collected) { self.collected = collected }

        mutating func write(_ buffer: ByteBuffer) {
            if collected.bytes.readableBytes == 0 {
                collected.bytes = buffer
            } else {
                collected.bytes.writeImmutableBuffer(buffer)
            }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

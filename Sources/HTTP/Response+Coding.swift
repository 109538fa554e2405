internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Response {
    /// A smaller answer fits into the packet that its headers need anyway, so that nothing would come sooner.
    static let leastBytesToCompress = 1_024

    /// In the coding that the client asks for, if it is large enough; then its entity tag names that representation.
    func coded(for request: Request) async -> Response {
        if status == .notModified { return notModified(for: request) }
        guard let length = body.contentLength, length >= Self.leastBytesToCompress else { return self }
        var response = self
        response.headers[.vary] = "Accept-Encoding"
        guard let header = request.headers[.acceptEncoding], let coding = AcceptedCodings(header).preferred,
            let compressed = await coding.compress(body.collected()), compressed.readableBytes < length
        else { return response }
        response.headers[.contentEncoding] = coding.rawValue
        // Sets the length as well.
        response.body = ResponseBody(byteBuffer: compressed)
        if let tag = headers[.eTag].flatMap(EntityTag.init) {
            response.headers[.eTag] = EntityTag(version: tag.version, coding: coding).description
        }
        return response
    }

    /// What the client holds may have been large. Its tag is said to be the one that the client knows it by: a cache finds by it which
    /// of its representations is meant. Source: RFC 9110, section 15.4.5; RFC 9111, section 4.3.4.
    private func notModified(for request: Request) -> Response {
        var response = self
        response.headers[.vary] = "Accept-Encoding"
        let known = request.tagsNotToMatch
        if let tag = headers[.eTag].flatMap(EntityTag.init), !known.contains(tag),
            let held = known.first(where: { $0.version == tag.version })
        {
            response.headers[.eTag] = held.description
        }
        return response
    }
}

extension ResponseBody {
    /// All bytes of a body that lies ready.
    fileprivate func collected() async -> ByteBuffer {
        let collector = Collector()
        // It throws where a client goes away, and the collector does not.
        try? await write(collector)
        return collector.bytes
    }

    private final class Collector: ResponseBodyWriter {
        var bytes = ByteBuffer()

        func write(_ buffer: ByteBuffer) { bytes.writeImmutableBuffer(buffer) }

        func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

internal import HTTPTypes
internal import NIOCore

/// Sits between the socket and the HTTP/1.1 decoder, and drops the bytes after the last request of a connection.
///
/// NIO's decoder stops at a request with `Upgrade` or `CONNECT` and keeps every further byte. The server ignores `Upgrade` and
/// refuses `CONNECT`, so bytes after such a request have no meaning (RFC 9110, sections 7.8 and 9.3.6).
final class HTTP1InputGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether the gate drops all bytes.
    var isClosed = false
    /// The bytes that the decoder reads now.
    private var current: ByteBuffer?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        current = unwrapInboundIn(data)
        context.fireChannelRead(data)
        // Released here, because NIO reuses the memory for the next read.
        current = nil
    }

    /// The head in the bytes that the decoder failed on, if its method is unknown. The decoder reports the same error for such a head
    /// and for bytes that are not HTTP. Fields beyond these bytes are missing.
    var headWithUnknownMethod: HTTPRequest? {
        guard let bytes = current?.readableBytesView else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        for (index, line) in lines.enumerated() {
            guard var head = Self.headWithUnknownMethod(line) else { continue }
            for line in lines[(index + 1)...].prefix(while: { $0.first != UInt8(ascii: "\r") }) {
                if let field = Self.field(line) { head.headerFields.append(field) }
            }
            return head
        }
        return nil
    }

    /// `field-name ":" OWS field-value OWS CR`. Source: RFC 9112, section 5.
    private static func field(_ line: ByteBufferView) -> HTTPField? {
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        let value = String(decoding: parts[1].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        return HTTPField(name: name, value: String(value[...].trimmingSpaces))
    }

    /// `method SP request-target SP HTTP-version CR`. Source: RFC 9112, section 3.
    private static func headWithUnknownMethod(_ line: ByteBufferView) -> HTTPRequest? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty,
            ["HTTP/1.0\r", "HTTP/1.1\r"].contains(where: { parts[2].elementsEqual($0.utf8) }),
            let method = HTTPRequest.Method(String(decoding: parts[0], as: UTF8.self)),
            !StandardMethods.contains(method.rawValue)
        else { return nil }
        return HTTPRequest(method: method, scheme: nil, authority: nil, path: String(decoding: parts[1], as: UTF8.self))
    }
}

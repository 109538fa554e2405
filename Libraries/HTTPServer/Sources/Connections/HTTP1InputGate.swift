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

    /// Whether the bytes that the decoder failed on contain a request line with an unknown method. The decoder reports the same
    /// error for such a line and for bytes that are not HTTP.
    var hasUnknownMethod: Bool {
        guard let bytes = current?.readableBytesView else { return false }
        return bytes.split(separator: UInt8(ascii: "\n")).contains(where: Self.isRequestLineWithUnknownMethod)
    }

    /// `method SP request-target SP HTTP-version CR`. Source: RFC 9112, section 3.
    private static func isRequestLineWithUnknownMethod(_ line: ByteBufferView) -> Bool {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, parts[0].allSatisfy(\.isTokenByte),
            ["HTTP/1.0\r", "HTTP/1.1\r"].contains(where: { parts[2].elementsEqual($0.utf8) })
        else { return false }
        return !StandardMethods.contains(String(decoding: parts[0], as: UTF8.self))
    }
}

extension UInt8 {
    /// `tchar`. Source: RFC 9110, section 5.6.2.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

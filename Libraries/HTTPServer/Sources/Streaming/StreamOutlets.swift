internal import NIOCore
internal import NIOHTTPTypes

/// Writes a stream into an HTTP/1.1 connection: in chunks, or for HTTP/1.0 until the end of the connection.
/// Source: RFC 9112, sections 6.3 and 7.1.
struct HTTP1StreamOutlet: StreamOutlet {
    /// The size of a chunk in hexadecimal digits, and two line ends.
    private static let framingBytes = 20

    let context: ChannelHandlerContext
    let unsent: UnsentBytes
    let isChunked: Bool
    /// Ends the connection.
    let end: () -> Void

    var eventLoop: any EventLoop { context.eventLoop }
    var budget: BufferBudget { unsent.budget }
    var unsentBytes: Int { unsent.counted }

    func write(_ bytes: ByteBuffer) {
        guard isChunked else { return send(bytes) }
        var chunk = context.channel.allocator.buffer(capacity: bytes.readableBytes + Self.framingBytes)
        chunk.writeString(String(bytes.readableBytes, radix: 16))
        chunk.writeStaticString("\r\n")
        chunk.writeImmutableBuffer(bytes)
        chunk.writeStaticString("\r\n")
        send(chunk)
    }

    func finish() {
        if isChunked { send(ByteBuffer(staticString: "0\r\n\r\n")) }
        end()
    }

    func abort() { context.close(promise: nil) }

    private func send(_ bytes: ByteBuffer) {
        context.writeAndFlush(NIOAny(bytes), promise: unsent.willWrite(bytes.readableBytes, context))
    }
}

/// Writes a stream into DATA frames of an HTTP/2 stream.
struct HTTP2StreamOutlet: StreamOutlet {
    let context: ChannelHandlerContext
    let unsent: UnsentBytes
    /// Called after the last frame is written.
    let end: () -> Void

    var eventLoop: any EventLoop { context.eventLoop }
    var budget: BufferBudget { unsent.budget }
    var unsentBytes: Int { unsent.counted }

    func write(_ bytes: ByteBuffer) {
        context.writeAndFlush(
            NIOAny(HTTPResponsePart.body(bytes)), promise: unsent.willWrite(bytes.readableBytes, context))
    }

    func finish() {
        context.writeAndFlush(NIOAny(HTTPResponsePart.end(nil)), promise: nil)
        end()
    }

    func abort() { context.close(promise: nil) }
}

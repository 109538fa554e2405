internal import NIOCore

/// Writes a stream into its connection: in chunks, or for HTTP/1.0 until the end of the connection. Belongs to the event loop of the
/// connection. Source: RFC 9112, sections 6.3 and 7.1.
struct StreamOutlet {
    /// The size of a chunk in hexadecimal digits, and two line ends.
    private static let framingBytes = 20

    let context: ChannelHandlerContext
    let unsent: UnsentBytes
    let isChunked: Bool
    /// Ends the connection.
    let end: () -> Void

    var eventLoop: any EventLoop { context.eventLoop }
    var budget: BufferBudget { unsent.budget }
    /// The bytes that the channel holds because the client has not read them, less at most ``BufferBudget/trackedBytes``.
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

    /// Ends the body properly.
    func finish() {
        if isChunked { send(ByteBuffer(staticString: "0\r\n\r\n")) }
        end()
    }

    /// Disconnects the client.
    func abort() { context.close(promise: nil) }

    private func send(_ bytes: ByteBuffer) {
        context.writeAndFlush(NIOAny(bytes), promise: unsent.willWrite(bytes.readableBytes, context))
    }
}

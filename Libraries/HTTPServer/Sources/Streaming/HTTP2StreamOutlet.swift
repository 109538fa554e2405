internal import NIOCore
internal import NIOHTTPTypes

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

internal import NIOCore

/// Closes an HTTP/2 connection after its client has closed its side or broken the protocol.
///
/// A client that has closed its side cannot open windows or acknowledge frames, so the connection is useless. With half-closed
/// connections allowed, NIO's own management handler would keep it until the idle limit.
final class HTTP2ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = Any

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    /// At this point NIO has sent GOAWAY.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

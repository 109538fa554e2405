internal import NIOCore

/// Closes a connection of HTTP/2 whose client has closed its side, or broken the protocol.
///
/// A client that has closed its side cannot open windows, nor acknowledge anything, so that the connection is of no more use. NIO's
/// own management handler closes neither: with half-closed connections allowed, the connection would stay until it is idle for long.
final class HTTP2ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = Any

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    /// NIO has sent GOAWAY by now.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

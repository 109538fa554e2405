internal import NIOCore
internal import NIOTLS

/// Closes a TLS connection if its handshake takes too long, or if it is silent for longer than a request and its response may
/// take. A connection with an open stream may be silent.
///
/// Before the end of the handshake no other handler measures time. After it, this handler closes an HTTP/2 client that does not
/// acknowledge a ping. Needs an `IdleStateHandler` before it in the pipeline.
final class HandshakeTimeout: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private let streams: ConnectionStreams
    private var timer: Scheduled<Void>?
    private var isInHandshake = true

    init(_ limit: TimeAmount, _ streams: ConnectionStreams) {
        self.limit = limit
        self.streams = streams
    }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is IdleStateHandler.IdleStateEvent: if streams.isEmpty { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent where isInHandshake: context.close(promise: nil)
        case TLSUserEvent.handshakeCompleted:
            isInHandshake = false
            timer?.cancel()
            context.fireUserInboundEventTriggered(event)
        case _: context.fireUserInboundEventTriggered(event)
        }
    }
}

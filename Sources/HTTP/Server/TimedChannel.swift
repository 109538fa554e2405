internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// A channel with TLS that is closed where its handshake is not over in time, since until then nothing else looks at the clock; and
/// where nothing has come or gone for longer than any request takes. A client of HTTP/2 that does not answer a ping would stay for
/// ever otherwise: Hummingbird waits for it before it closes a connection.
struct TimedChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let limits: ConnectionLimits

    init(_ base: Base, _ limits: ConnectionLimits) {
        self.base = base
        self.limits = limits
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let silence = TimeAmount.seconds(Int64(limits.idleSeconds + limits.answerSeconds))
            try pipeline.addHandlers(
                [IdleStateHandler(allTimeout: silence), ConnectionDeadline(handshake: .seconds(Int64(limits.arrivalSeconds)))],
                position: .after(pipeline.handler(type: NIOSSLServerHandler.self)))
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

private final class ConnectionDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let handshake: TimeAmount
    private var timer: Scheduled<Void>?

    init(handshake: TimeAmount) { self.handshake = handshake }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: handshake) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is IdleStateHandler.IdleStateEvent: context.close(promise: nil)
        case TLSUserEvent.handshakeCompleted:
            timer?.cancel()
            context.fireUserInboundEventTriggered(event)
        case _: context.fireUserInboundEventTriggered(event)
        }
    }
}

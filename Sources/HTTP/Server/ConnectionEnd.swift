internal import NIOCore
internal import NIOHTTPTypes

/// The end of a connection of HTTP/1.1: what was sent arrives, and what still comes is read, or the client would be told that the
/// connection is broken before it has read its answer. Source: RFC 9112, section 9.6.
final class ConnectionEnd {
    /// How long a client may take to close its side when ours is closed.
    private static let lingering = TimeAmount.seconds(1)

    private let context: ChannelHandlerContext
    private var timer: Scheduled<Void>?

    /// Closes our side when all is sent, and everything when the client has closed its own, or does not.
    /// - Parameters:
    ///   - hasInputEnded: whether the client has closed its own already
    ///   - seconds: for what is still to be sent
    init(of context: ChannelHandlerContext, hasInputEnded: Bool, within seconds: Int) {
        self.context = context
        close(in: .seconds(Int64(seconds)))
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            if context.channel.isActive { self.close(in: hasInputEnded ? .zero : Self.lingering) }
        }
        if hasInputEnded {
            // To close the one side that is open would be to close everything, with what is still to be sent.
            let nothing = HTTPResponsePart.body(ByteBuffer())
            context.writeAndFlush(NIOAny(nothing), promise: sent)
        } else {
            context.close(mode: .output, promise: sent)
        }
    }

    func cancel() { timer?.cancel() }

    private func close(in time: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [context] in context.close(promise: nil) }
    }
}

extension Channel {
    /// Whether something is still on its way to a client that reads slowly; to close everything at once would cut it off. Of a connection
    /// of HTTP/1.1: a stream of HTTP/2 does not let itself be asked.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}

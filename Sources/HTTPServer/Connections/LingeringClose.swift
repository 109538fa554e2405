internal import NIOCore

/// The orderly end of an HTTP/1.1 connection: the last response is sent as a whole, and what still comes is read. Otherwise the
/// client's system would report a broken connection before the client has read the response. Source: RFC 9112, section 9.6.
///
/// It keeps the context of the handler that owns it. The owner must call ``cancel()`` when the channel is inactive.
final class LingeringClose {
    /// How long a client may take to close its side after ours is closed.
    private static let lingering = TimeAmount.seconds(1)

    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?

    /// Closes our side when everything is sent, and the connection when the client has closed its side or is too slow.
    /// - Parameters:
    ///   - hasInputEnded: whether the client has closed its side already
    ///   - seconds: the time for sending the rest
    init(_ context: ChannelHandlerContext, hasInputEnded: Bool, within seconds: Int) {
        self.context = context
        close(in: .seconds(Int64(seconds)))
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.close(in: hasInputEnded ? .zero : Self.lingering) }
        if hasInputEnded {
            // Closing the only open side would close everything, with the bytes that are still to be sent.
            context.writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
        } else {
            context.close(mode: .output, promise: sent)
        }
    }

    /// Ends the reference to the channel's pipeline.
    func cancel() {
        timer?.cancel()
        (timer, context) = (nil, nil)
    }

    private func close(in time: TimeAmount) {
        timer?.cancel()
        guard let context, context.channel.isActive else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}

extension Channel {
    /// Whether bytes are still to be sent to a client that reads slowly. Not for streams of HTTP/2, which do not know the option.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}

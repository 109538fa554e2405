internal import NIOCore

/// The orderly end of an HTTP/1.1 connection: sends the whole last response, and reads the remaining input. Otherwise the
/// client's system would report a broken connection before the client has read the response. Source: RFC 9112, section 9.6.
///
/// It keeps the context of the handler that owns it. The owner must call ``cancel()`` when the channel is inactive.
final class LingeringClose {
    /// Maximum time for a client to close its side after the server has closed its own.
    private static let lingering = TimeAmount.seconds(1)

    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?

    /// Closes the server's side when all bytes are sent. Then closes the connection when the client has closed its side or is
    /// too slow.
    /// - Parameters:
    ///   - hasInputEnded: whether the client has closed its side already
    ///   - seconds: the time for sending the rest
    init(_ context: ChannelHandlerContext, hasInputEnded: Bool, within seconds: Int) {
        self.context = context
        close(in: .seconds(Int64(seconds)))
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.close(in: hasInputEnded ? .zero : Self.lingering) }
        if hasInputEnded {
            // Closing the only open side would close the connection, and lose the bytes that are not sent yet.
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
    /// Whether bytes wait for a client that reads slowly.
    var hasUnsentBytes: Bool { ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0 }
}

internal import NIOCore

/// One keep-alive connection of a route, with at most one request under way.
final class RouteConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A request without a response yet. Times are nanoseconds since the start of the run.
    struct Sent {
        var due: Int64
        var at: Int64
    }

    private unowned let run: LoadRun
    let route: Int
    private(set) var sent: Sent?
    /// Since when the connection could take a request.
    var freeSince: Int64 = .min
    private var context: ChannelHandlerContext?
    private var scanner = ResponseScanner()

    init(run: LoadRun, route: Int) {
        self.run = run
        self.route = route
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        run.isConnected(self)
    }

    func send(_ request: ByteBuffer, due: Int64, now: Int64) {
        sent = Sent(due: due, at: now)
        context?.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(ResponseScanner.Failure) {
            guard let status = try scanner.read(unwrapInboundIn(data)) else { return }
            guard let sent else { throw .unsupportedFraming }
            self.sent = nil
            run.received(status: status, sent, on: self)
        } catch {
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        run.lost(self)
    }
}

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// A stream of HTTP/2: one request and its response. Limits and refusals are the same as in ``HTTP1Connection``.
final class HTTP2Stream: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private static let host = HTTPField.Name(literal: "host")

    private let server: ServerState
    private let info: ConnectionInfo
    private let unsent: UnsentBytes
    private let streams: ConnectionStreams
    private let count: HandlerCount

    private var timeouts = ConnectionTimeouts(at: .now())
    private var timer: Scheduled<Void>?
    /// `nil` before the head, and after the response.
    private var request: HTTPRequest?
    private var body: RequestBodyBuffer
    /// Whether the response is written or streams, or the stream is closed.
    private var hasEnded = false
    /// `nil` unless the response streams.
    private var writer: ResponseWriter?

    /// - Parameters:
    ///   - reader: the reader of the stream's connection
    ///   - peer: the peer of the stream's connection
    init(_ server: ServerState, _ streams: ConnectionStreams, _ reader: SlowReader, peer: SocketAddress?) {
        self.server = server
        self.streams = streams
        info = server.connectionInfo(peer)
        unsent = UnsentBytes(reader, isStream: true)
        body = RequestBodyBuffer(limitBytes: server.limits.bodyBytes, server.budget)
        count = HandlerCount(server)
    }

    func handlerAdded(context: ChannelHandlerContext) { checkTimers(context) }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    private func release() {
        hasEnded = true
        timer?.cancel()
        timer = nil
        writer?.disconnected()
        writer = nil
        body.drop()
    }

    /// A reset, or a head that is not a request.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): take(head, context)
        case .body(let bytes): if timeouts.isReceiving { take(bytes, context) }
        case .end:
            let isWhole = timeouts.isReceiving
            timeouts.bodyEnds()
            if isWhole { pass(context) }
        }
    }

    private func take(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        timeouts.headEnds(at: .now())
        guard head.path?.isASCII != false else {
            timeouts.bodyIsCutOff()
            return refuse(.malformed("The target is not ASCII"), context)
        }
        var head = head
        head.headerFields.limitValues()
        request = head
        // Source: RFC 9113, section 8.3.1.
        guard let authority = head.authority ?? head.headerFields[Self.host], authority.isHost else {
            timeouts.bodyIsCutOff()
            return refuse(.malformed("The request has no valid authority"), context)
        }
        let announcedBytes = head.headerFields.value(of: .contentLength).flatMap(Int.init) ?? 0
        if announcedBytes > server.limits.bodyBytes {
            timeouts.bodyIsCutOff()
            pass(context)
        } else if announcedBytes > 0, head.headerFields.value(of: .expect)?.lowercased() == "100-continue" {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        do throws(RequestBodyBuffer.Overflow) { try body.append(bytes) } catch {
            timeouts.bodyIsCutOff()
            switch error {
            case .bodyLimit: pass(context)
            case .budget: refuse(.overloaded, context)
            }
        }
    }

    /// Passes the request to the router, which responds immediately or in a task.
    private func pass(_ context: ChannelHandlerContext) {
        guard let head = request else { return }
        switch server.router.respondImmediately(to: Request(head: head, body: body.take()), from: info) {
        case .response(let response): write(response, context)
        case .needsTask(let task): start(task, context)
        }
    }

    private func start(_ task: Router.RequestTask, _ context: ChannelHandlerContext) {
        guard server.inFlight.begin(task.limit) else { return refuse(.overloaded, context) }
        timeouts.responseBegins(at: .now())
        context.eventLoop.makeFutureWithTask { [server] in
            defer { server.inFlight.end(task.limit) }
            return await task.run()
        }.assumeIsolated().whenSuccess { response in
            // Otherwise the task took too long, or the stream is closed.
            guard !self.hasEnded else { return }
            self.timeouts.responseEnds(at: .now())
            self.write(response, context)
        }
    }

    private func refuse(_ error: HTTPError, _ context: ChannelHandlerContext) {
        write(server.router.respond(with: error, to: request, from: info), context)
    }

    private func write(_ response: consuming Response, _ context: ChannelHandlerContext) {
        hasEnded = true
        request = nil
        body.drop()
        guard context.channel.isActive else { return }
        response.setContentLengthHeader()
        response.headers.append(HTTPField(name: .date, value: HTTPDate.now))
        let head = HTTPResponse(status: response.status, headerFields: response.headers)
        context.write(wrapOutboundOut(.head(head)), promise: unsent.willWrite(Response.headBytes, context))
        if let stream = response.stream { return open(stream, context) }
        unsent.write(response.body, reserved: response.reserved, context) { piece, promise in
            context.write(wrapOutboundOut(.body(piece)), promise: promise)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        guard timeouts.isReceiving || timeouts.isRest else { return }
        // A reset stops the client from sending the body. Source: RFC 9113, section 8.1.
        sent.futureResult.assumeIsolated().whenSuccess { context.close(promise: nil) }
    }

    /// Hands the body over to its producer. No time limit applies until the producer has ended.
    private func open(_ stream: ResponseStream, _ context: ChannelHandlerContext) {
        context.flush()
        guard context.channel.isActive else { return }
        timer?.cancel()
        timer = nil
        let outlet = HTTP2StreamOutlet(context: context, unsent: unsent) {
            self.writer = nil
            self.timeouts.responseEnds(at: .now())
            self.checkTimers(context)
        }
        writer = streams.open(stream, outlet)
    }

    /// Performs the due action, and schedules the next check. After the response the stream has the idle limit to send it.
    private func checkTimers(_ context: ChannelHandlerContext) {
        timer = nil
        guard context.channel.isActive || !hasEnded else { return }
        let now = NIODeadline.now()
        switch timeouts.dueAction(at: now, server.limits) {
        case .wait(let until):
            let until = min(until, now + .seconds(Int64(server.limits.arrivalSeconds)))
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: until) { self.checkTimers(context) }
        case .close: context.close(promise: nil)
        case .refuseSlowArrival:
            timeouts.bodyIsCutOff()
            hasEnded ? context.close(promise: nil) : refuse(.requestTimeout, context)
        case .refuseSlowResponse:
            timeouts.responseEnds(at: now)
            refuse(.responseTimeout, context)
            checkTimers(context)
        }
    }
}

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

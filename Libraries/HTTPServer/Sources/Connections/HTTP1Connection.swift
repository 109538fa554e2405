internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// A connection of HTTP/1.1 or HTTP/1.0: reads requests, has the router answer them, and writes the responses.
///
/// The router gets a request when its body is whole, or exceeds the route's limit. Until then the request costs its bytes and
/// no task. Requests of one connection are answered in order, one at a time. Meanwhile further requests wait and the socket is
/// not read. The connection itself refuses heads that are too large or not HTTP, requests that arrive too slowly, and requests
/// beyond the server's limits. While the server drains, the next response is the last one, so that no client sends a request
/// into a closing connection.
final class HTTP1Connection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    let server: Server
    let gate: HTTP1InputGate
    private let unsent: UnsentBytes
    private let info: ConnectionInfo

    private var timeouts = ConnectionTimeouts(at: .now()) { didSet { noteIdleTime() } }
    private let idleTime = IdleTime()
    private var timer: Scheduled<Void>?
    /// Whether the arriving request is the last one.
    var isLastArriving = false
    /// Whether a part has arrived since the last read of the socket. If not, the bytes belong to a head.
    private var hasReadPart = false
    /// The request that arrives now or waits for its response.
    private var current: HTTP1Request?
    private var body: RequestBodyBuffer
    /// Parts that wait behind a request in progress, or behind responses that the client does not read.
    private var waiting = CircularBuffer<HTTP1Part>()
    /// Whether the socket must be read once no part waits.
    private var isReadHeld = false
    /// The number of immediate responses since the last read of the socket.
    private var immediateResponses = 0
    /// Whether the current request waits for its turn on the event loop.
    private var isYielding = false
    /// Whether the next response is the last one.
    private var isEnding = false
    /// Whether the client has closed its side. It may still read.
    private var hasInputEnded = false
    /// Whether the last response is written.
    private var hasEnded = false { didSet { noteIdleTime() } }
    private var lingering: LingeringClose?
    /// `nil` unless the response streams.
    private var writer: ResponseWriter?

    init(_ server: Server, _ gate: HTTP1InputGate, peer: SocketAddress?) {
        (self.server, self.gate) = (server, gate)
        let configuration = server.configuration
        info = ConnectionInfo(
            peer.flatMap { NetworkAddress($0) }, trusting: configuration.trustedProxies, budget: configuration.budget,
            streams: configuration.streams)
        unsent = UnsentBytes(configuration.budget)
        body = RequestBodyBuffer(limitBytes: configuration.limits.bodyBytes, configuration.budget)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        noteIdleTime()
        server.connections.watch(idleTime, of: context.channel)
        checkTimers(context)
    }

    private func noteIdleTime() { idleTime.since = hasEnded ? nil : timeouts.idleSince }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    /// Drops every reference to the channel. Otherwise the handler and its context would keep each other in memory.
    private func release() {
        hasEnded = true
        timer?.cancel()
        lingering?.cancel()
        writer?.disconnected()
        (timer, lingering, writer) = (nil, nil, nil)
        unsent.stopWatching()
        waiting.removeAll()
        body.drop()
    }
}

// MARK: Reading

extension HTTP1Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded, !gate.isClosed else { return }
        hasReadPart = true
        receive(checked(unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            if !hasEnded, !gate.isClosed { receive(checked(error), context) }
        } else if !hasEnded, !isBusy {
            context.close(promise: nil)
        }
    }

    private func receive(_ part: HTTP1Part, _ context: ChannelHandlerContext) {
        if waiting.isEmpty, hasTurn(part, context) { take(part, context) } else { waiting.append(part) }
    }

    /// Processes requests one by one, and only while the client reads its responses.
    private func hasTurn(_ part: HTTP1Part, _ context: ChannelHandlerContext) -> Bool {
        switch part {
        case .body, .end: true
        case .head, .refused: !timeouts.isResponding && !isYielding && context.channel.isWritable
        }
    }

    private func take(_ part: HTTP1Part, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request):
            timeouts.headEnds(at: .now())
            current = request
            if request.announcedBytes > server.configuration.limits.bodyBytes {
                // The client waits for a final response instead of sending the body. Source: RFC 9110, section 10.1.1.
                if request.expectsContinue { isEnding = true }
                timeouts.bodyIsCutOff()
                pass(context)
            } else if request.expectsContinue {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
            }
        case .body(let bytes):
            // Otherwise this is the rest of a body that was too large.
            if timeouts.isReceiving { takeBody(bytes, context) }
        case .end:
            let isWhole = timeouts.isReceiving
            timeouts.bodyEnds()
            if isWhole { passInTurn(context) }
        case .refused(let error, let request):
            isEnding = true
            // This request got its response before its body was whole.
            timeouts.isRest ? end(context) : refuse(error, request, context)
        }
    }

    private func takeBody(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        do throws(RequestBodyBuffer.Overflow) { try body.append(bytes) } catch {
            timeouts.bodyIsCutOff()
            switch error {
            case .bodyLimit: pass(context)
            case .budget:
                isEnding = true
                refuse(.overloaded, current?.request, context)
            }
        }
    }

    private func takeWaitingParts(_ context: ChannelHandlerContext) {
        while !hasEnded, let part = waiting.first, hasTurn(part, context) {
            waiting.removeFirst()
            take(part, context)
        }
        guard !hasEnded else { return }
        if isReadHeld { read(context: context) }
        endIfInputHasEnded(context)
    }

    private func endIfInputHasEnded(_ context: ChannelHandlerContext) {
        if hasInputEnded, !hasEnded, !timeouts.isResponding, !isYielding, waiting.isEmpty { end(context) }
    }

    func read(context: ChannelHandlerContext) {
        isReadHeld = !waiting.isEmpty
        if !isReadHeld { context.read() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // While a part waits, only the end of the input was read.
        if !hasReadPart, !hasEnded, !gate.isClosed, waiting.isEmpty { timeouts.headBegins(at: .now()) }
        hasReadPart = false
        if !isYielding { immediateResponses = 0 }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { takeWaitingParts(context) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            if isBusy { isEnding = true } else if !hasEnded { end(context) }
        case is CloseIfIdleEvent:
            // A client that still reads its response is busy, too.
            if isBusy || hasEnded || context.channel.hasUnsentBytes {
                server.connections.closeOldestIdle()
            } else {
                context.close(promise: nil)
            }
        case ChannelEvent.inputClosed:
            hasInputEnded = true
            // A client that only closes its sending side cannot be told from one that has left.
            writer == nil ? endIfInputHasEnded(context) : context.close(promise: nil)
        case _: context.fireUserInboundEventTriggered(event)
        }
    }

    private var isBusy: Bool { timeouts.isReceiving || timeouts.isResponding || isYielding || !waiting.isEmpty }
}

// MARK: Responding

extension HTTP1Connection {
    /// Passes a whole request on, or lets other connections of the event loop have their turn first.
    private func passInTurn(_ context: ChannelHandlerContext) {
        guard immediateResponses >= ConnectionLimits.immediateResponses else { return pass(context) }
        isYielding = true
        context.eventLoop.assumeIsolated().execute {
            self.isYielding = false
            self.immediateResponses = 0
            guard !self.hasEnded else { return }
            self.pass(context)
            self.takeWaitingParts(context)
        }
    }

    /// Passes the current request to the router, which responds immediately or in a task.
    private func pass(_ context: ChannelHandlerContext) {
        guard let current else { return }
        if current.isLast { isEnding = true }
        let request = Request(head: current.request, body: body.take())
        switch server.router.respondImmediately(to: request, from: info) {
        case .response(let response):
            immediateResponses += 1
            write(response, context)
        case .needsTask(let task): start(task, request, context)
        }
    }

    private func start(_ task: Router.RequestTask, _ request: Request, _ context: ChannelHandlerContext) {
        guard server.configuration.inFlight.begin(task.limit) else { return refuse(.overloaded, request.head, context) }
        timeouts.responseBegins(at: .now())
        context.eventLoop.makeFutureWithTask { [server] in
            defer { server.configuration.inFlight.end(task.limit) }
            return await task.run()
        }.assumeIsolated().whenSuccess { response in
            // Otherwise the task took too long, or the client has disconnected.
            guard self.timeouts.isResponding, !self.hasEnded else { return }
            self.timeouts.responseEnds(at: .now())
            self.write(response, context)
            self.takeWaitingParts(context)
        }
    }

    /// Sends a response without a route.
    private func refuse(_ error: HTTPError, _ request: HTTPRequest?, _ context: ChannelHandlerContext) {
        write(server.router.respond(with: error, to: request, from: info), context)
    }

    private func write(_ response: consuming Response, _ context: ChannelHandlerContext) {
        let isHTTP10 = current?.isHTTP10 == true
        current = nil
        body.drop()
        guard context.channel.isActive else { return }
        if server.configuration.drain.hasBegun || response.stream != nil { isEnding = true }
        // Set before the write: a write that empties the buffer announces room, and would start the next request.
        if isEnding { hasEnded = true }
        let (head, rest) = response.http1Bytes(isLast: isEnding, isHTTP10: isHTTP10, context.channel.allocator)
        context.write(wrapOutboundOut(head), promise: unsent.willWrite(head.readableBytes, context))
        unsent.write(rest, reserved: response.reserved, context) { context.write(wrapOutboundOut($0), promise: $1) }
        context.flush()
        guard let stream = response.stream, !hasInputEnded, context.channel.isActive else { return isEnding ? end(context) : () }
        // While the stream is open no time limit applies.
        dropInput(context)
        let outlet = StreamOutlet(context: context, unsent: unsent, isChunked: !isHTTP10) { self.end(context) }
        writer = stream.open(outlet)
    }

    private func end(_ context: ChannelHandlerContext) {
        guard lingering == nil else { return }
        writer = nil
        dropInput(context)
        lingering = LingeringClose(context, hasInputEnded: hasInputEnded, within: server.configuration.limits.responseSeconds)
    }

    /// Reads and drops all further bytes.
    private func dropInput(_ context: ChannelHandlerContext) {
        (hasEnded, gate.isClosed) = (true, true)
        timer?.cancel()
        waiting.removeAll()
        if isReadHeld { read(context: context) }
    }

    /// Performs the due action, and schedules the next check.
    private func checkTimers(_ context: ChannelHandlerContext) {
        timer = nil
        guard !hasEnded else { return }
        let now = NIODeadline.now()
        switch timeouts.dueAction(at: now, server.configuration.limits) {
        case .wait(let until):
            // At most the arrival limit: otherwise a request that begins meanwhile would be missed.
            let until = min(until, now + .seconds(Int64(server.configuration.limits.arrivalSeconds)))
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: until) { self.checkTimers(context) }
        case .close: context.channel.hasUnsentBytes ? end(context) : context.close(promise: nil)
        case .refuseSlowArrival:
            isEnding = true
            refuse(.requestTimeout, current?.request, context)
        case .refuseSlowResponse:
            isEnding = true
            timeouts.responseEnds(at: now)
            // The task is not cancelled. It counts as in flight until it ends.
            refuse(.responseTimeout, current?.request, context)
        }
    }
}

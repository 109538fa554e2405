internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Stands in the channel of a client, between HTTP as bytes and the server: one a connection in HTTP/1.1, one a request in HTTP/2.
///
/// A request is answered here, on the event loop, where that takes no waiting (decision 24). Otherwise it goes to its route when all
/// of it has come, or more than any route takes; until then it costs its bytes and no task. Refused here as well are a head that is
/// too large or no HTTP, what does not arrive in time, and what is more than the node can do. While the node drains, the next
/// answer says that it is the last on its connection, so that no client sends a request into a connection that is being closed.
final class ClientConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What becomes of the request that is being read.
    private enum Way {
        /// That is seen when all of it has come.
        case open
        case passed
        case refused
        /// Nothing: the connection will end before.
        case ignored
    }

    /// So many are answered at once before other connections of the event loop have their turn; what follows takes its route.
    private static let atOnceLimit = 16

    /// How long a client that was told so may take to close its side: what it still sends is read, or the answer would be lost.
    private static let lingering = TimeAmount.seconds(1)

    private let responder: APIResponder
    private let limits: ConnectionLimits
    private let admission: Admission
    private let drain: Drain

    private var phase = ConnectionPhase(at: .now())
    private var timer: Scheduled<Void>?
    /// Whether this is a request of HTTP/2, whose connection is somebody else's.
    private var isStream = false
    private var arrival: Arrival?
    /// Since the channel was last read from; otherwise what was read is part of a head.
    private var hasReadPart = false
    /// Of the request that is being read.
    private var head: HTTPRequest?
    /// What has come of a body that is to be passed on as a whole.
    private var body = ByteBuffer()
    private var way = Way.open
    /// Since the channel was last read from.
    private var answeredAtOnce = 0
    /// Whether the request that came last is one of HEAD, whose answer has no body.
    private var isBodiless = false
    private var isAnswering = false
    /// Whether the answer under way, or the next, is the last one.
    private var isEnding = false
    private var hasEnded = false

    init(_ responder: APIResponder, _ limits: ConnectionLimits, admission: Admission, drain: Drain) {
        self.responder = responder
        self.limits = limits
        self.admission = admission
        self.drain = drain
    }

    func handlerAdded(context: ChannelHandlerContext) {
        isStream = context.channel.parent?.parent != nil
        arrival = responder.arrival(Peer(context.channel.remoteAddress))
        look(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        hasEnded = true
        if phase.unanswered > 0 { admission.leaves() }
        context.fireChannelInactive()
    }
}

// MARK: Requests

extension ClientConnection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        hasReadPart = true
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard way != .ignored else { return }
            phase.headEnds(at: .now())
            isBodiless = head.method == .head
            (way, self.head) = (.open, head)
        case .body(let bytes):
            switch way {
            case .open:
                // In one piece, however small those are that it comes in.
                if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
                // The route refuses it without reading all.
                if body.readableBytes > limits.bodyBytes { send(context) }
            case .passed: context.fireChannelRead(data)
            case .refused, .ignored: break
            }
        case .end:
            defer { head = nil }
            if way == .open, let answer = answerAtOnce(context) {
                phase.bodyEnds()
                return write(answer, context)
            }
            if way == .open { send(context) }
            phase.bodyEnds()
            if way == .passed { context.fireChannelRead(data) }
            if way == .refused { refuse(head, .overloaded, context) }
        }
    }

    /// nil where it takes a route's time, or where others have to be waited for: the answers to requests before, other connections,
    /// and a client that does not read what it is answered.
    private func answerAtOnce(_ context: ChannelHandlerContext) -> Answer? {
        guard let head, let arrival, phase.unanswered == 0, body.readableBytes == 0, answeredAtOnce < Self.atOnceLimit,
            context.channel.isWritable
        else { return nil }
        let answer = responder.answerAtOnce(head, from: arrival)
        if answer != nil {
            answeredAtOnce += 1
            if head.asksToClose { isEnding = true }
        }
        return answer
    }

    /// Sends what has come on its way: to the route, unless that is too much for the node now.
    private func send(_ context: ChannelHandlerContext) {
        guard var head else { return }
        let body = body
        self.body = ByteBuffer()
        phase.isSent()
        // Behind others that wait for their answers this one would be refused too early. They are worked on one by one, so that
        // a connection counts once.
        let isFirst = phase.unanswered == 0
        guard !isFirst || head.isAboutHealth || admission.admits() else {
            way = .refused
            return
        }
        way = .passed
        phase.asks(at: .now())
        if isFirst { admission.arrives() }
        if head.asksToClose {
            // In the one way in which the server behind this understands it.
            head.headerFields[.connection] = "close"
            if isFirst { isEnding = true }
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        if body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(body))) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasReadPart, !hasEnded { phase.headBegins(at: .now()) }
        hasReadPart = false
        answeredAtOnce = 0
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, !hasEnded else { return context.fireErrorCaught(error) }
        isEnding = true
        // A route that reads the rest of a body answers, or the one that is at work on the request before.
        guard phase.unanswered == 0 else { return context.fireErrorCaught(error) }
        refuse(nil, error == .headerOverflow ? .headersTooLarge(limitBytes: limits.headerBytes) : .malformed, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A connection in which a request arrives is not silent. Its answer will be the last.
        if event is ChannelShouldQuiesceEvent, phase.isReceiving {
            isEnding = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Does what is due, and sees to it that the next thing due will be done.
    private func look(_ context: ChannelHandlerContext, at now: NIODeadline = .now()) {
        timer = nil
        guard !hasEnded else { return }
        switch phase.verdict(at: now, limits) {
        case .wait(let until):
            // Not longer than a request has to arrive: one that begins meanwhile would be forgotten.
            let until = min(until, now + .seconds(Int64(limits.arrivalSeconds)))
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: until) { self.look(context) }
        case .close: hasUnsentBytes(context) ? end(context) : context.close(promise: nil)
        case .refuseSlowArrival:
            isEnding = true
            if phase.unanswered == 0 {
                refuse(head, .tooSlow, context)
            } else {
                // Behind an answer that is still to come, that is the last.
                way = .ignored
                phase.bodyEnds()
                look(context, at: now)
            }
        case .refuseSlowAnswer:
            isEnding = true
            // Its route may end some time, and is then counted besides.
            if isAnswering { context.close(promise: nil) } else { refuse(nil, .unavailable, context) }
        }
    }
}

// MARK: Answers

extension ClientConnection {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEnded else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind == .informational: context.write(data, promise: promise)
        case .head(let head):
            isAnswering = true
            if drain.hasBegun { isEnding = true }
            context.write(wrapOutboundOut(.head(asSent(head))), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            isAnswering = false
            phase.isAnswered(at: .now())
            if phase.unanswered == 0 { admission.leaves() }
            guard isEnding, !isStream else {
                context.write(data, promise: promise)
                return
            }
            context.writeAndFlush(data, promise: promise)
            end(context)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // Whoever closes an idle connection does not see that a request arrives, nor that an answer is still on its way.
        guard mode == .all, !isStream, hasEnded || phase.isReceiving || hasUnsentBytes(context) else {
            context.close(mode: mode, promise: promise)
            return
        }
        if let promise { context.channel.closeFuture.cascade(to: promise) }
        if !hasEnded, !phase.isReceiving { end(context) }
    }

    /// Answers by itself, where no route will.
    private func refuse(_ head: HTTPRequest?, _ refusal: Refusal, _ context: ChannelHandlerContext) {
        guard let arrival else { return }
        var answer = responder.refuse(head, from: arrival, refusal)
        if isBodiless { answer.dropBody() }
        write(answer, context)
    }

    private func write(_ answer: consuming Answer, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if drain.hasBegun { isEnding = true }
        answer.tellLength()
        answer.headers.append(HTTPField(name: .date, value: HTTPDate.now))
        let head = HTTPResponse(status: answer.status, headerFields: answer.headers)
        context.write(wrapOutboundOut(.head(asSent(head))), promise: nil)
        if answer.body.readableBytes > 0 { context.write(wrapOutboundOut(.body(answer.body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        guard isEnding else { return }
        // A stream ends by itself, unless what it asks is still to come.
        if !isStream { end(context) } else if phase.isReceiving { context.close(promise: nil) }
    }

    private func asSent(_ head: consuming HTTPResponse) -> HTTPResponse {
        // 204 and 304 have no body, whose length could be told. Source: RFC 9110, section 8.6.
        if [204, 304].contains(head.status.code) { head.headerFields[.contentLength] = nil }
        if isEnding, !isStream { head.headerFields[.connection] = "close" }
        return head
    }

    /// Whether an answer is still on its way to a client that reads slowly; closing everything at once would cut it off.
    private func hasUnsentBytes(_ context: ChannelHandlerContext) -> Bool {
        ((try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) > 0
    }

    /// Closes our side when all is sent, and everything when the client has closed its own, or does not.
    private func end(_ context: ChannelHandlerContext) {
        hasEnded = true
        timer?.cancel()
        timer = closing(context, in: .seconds(Int64(limits.answerSeconds)))
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            guard context.channel.isActive else { return }
            self.timer?.cancel()
            self.timer = self.closing(context, in: Self.lingering)
        }
        context.close(mode: .output, promise: sent)
    }

    private func closing(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Stands in the channel of a client, behind HTTP as bytes, and answers: one a connection in HTTP/1.1, one a request in HTTP/2.
///
/// A request is answered when all of it has come, or more than any route takes; until then it costs its bytes and no task. Where that
/// takes no waiting it is answered here, on the event loop, and otherwise in a task (decision 24). Requests of one connection are
/// answered one by one: what comes meanwhile waits, and no more is read. Refused here are a head that is too large or no HTTP, what
/// does not arrive in time, and what is more than the node can do. While the node drains, the next answer says that it is the last on
/// its connection, so that no client sends a request into a connection that is being closed.
final class ClientConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPResponsePart

    /// So many are answered at once before other connections of the event loop have their turn; the next takes a task.
    private static let atOnceLimit = 16

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
    /// Of the request that is being read, or answered in a task.
    private var head: HTTPRequest?
    /// What has come of its body.
    private var body = ByteBuffer()
    /// What has come behind a request that is being answered, or behind answers that the client does not read.
    private var waiting = CircularBuffer<HTTPRequestPart>()
    /// Whether the channel is to be read from when nothing waits any more.
    private var isReadHeld = false
    /// Since the channel was last read from, or since the last answer of a task.
    private var answeredAtOnce = 0
    /// Whether the answer under way, or the next, is the last one.
    private var isEnding = false
    /// What has come behind all else and is no HTTP.
    private var fault: Refusal?
    /// Whether the client has said that it sends nothing more, and still reads.
    private var hasInputEnded = false
    private var hasEnded = false
    private var ending: ConnectionEnd?

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

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        ending?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        ending?.cancel()
        hasEnded = true
        waiting.removeAll()
        context.fireChannelInactive()
    }
}

// MARK: Requests

extension ClientConnection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        hasReadPart = true
        let part = unwrapInboundIn(data)
        if waiting.isEmpty, hasTurn(part, context) { take(part, context) } else { waiting.append(part) }
    }

    /// Requests are taken one by one, and of those who read what they are answered.
    private func hasTurn(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) -> Bool {
        guard case .head = part else { return true }
        return !phase.isAnswering && context.channel.isWritable
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            phase.headEnds(at: .now())
            self.head = head
        case .body(let bytes):
            // Otherwise it is the rest of one that was too large.
            guard phase.isReceiving else { return }
            // In one piece, however small those are that it comes in.
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            // The route refuses it without having all.
            if body.readableBytes > limits.bodyBytes { ask(context) }
        case .end:
            let isWhole = phase.isReceiving
            phase.bodyEnds()
            if isWhole, !answerAtOnce(context) { ask(context) }
        }
    }

    /// - Returns: false where it takes a route's time, or others have to have their turn
    private func answerAtOnce(_ context: ChannelHandlerContext) -> Bool {
        guard let head, let arrival, body.readableBytes == 0, answeredAtOnce < Self.atOnceLimit,
            let answer = responder.answerAtOnce(head, from: arrival)
        else { return false }
        answeredAtOnce += 1
        if head.isLast { isEnding = true }
        write(answer, context)
        return true
    }

    /// Has the route answer, unless that is too much for the node now.
    private func ask(_ context: ChannelHandlerContext) {
        guard let head, let arrival else { return }
        let body = body
        self.body = ByteBuffer()
        phase.isAsked()
        if head.isLast { isEnding = true }
        guard head.isAboutHealth || admission.admits() else { return refuse(.overloaded, context) }
        phase.answerBegins(at: .now())
        admission.begin()
        context.eventLoop.makeFutureWithTask { [responder, admission] in
            defer { admission.end() }
            return await responder.answer(Request(head: head, body: RequestBody(buffer: body)), from: arrival)
        }.assumeIsolated().whenSuccess { answer in
            // Otherwise it took too long, or the client has gone.
            guard self.phase.isAnswering, !self.hasEnded else { return }
            self.phase.answerEnds(at: .now())
            self.write(answer, context)
            self.answeredAtOnce = 0
            self.takeWhatWaits(context)
        }
    }

    private func takeWhatWaits(_ context: ChannelHandlerContext) {
        while !hasEnded, let part = waiting.first, hasTurn(part, context) {
            waiting.removeFirst()
            take(part, context)
        }
        guard waiting.isEmpty, !hasEnded else { return }
        if isReadHeld { readAgain(context) }
        endWhereAllIsSaid(context)
    }

    /// Where nothing more will come that could be answered, and what has come is answered.
    private func endWhereAllIsSaid(_ context: ChannelHandlerContext) {
        guard !hasEnded, !phase.isAnswering, waiting.isEmpty else { return }
        // One that is answered already, though not all of it has come, is not answered again.
        if let fault, !phase.isRest {
            isEnding = true
            refuse(fault, context)
        } else if fault != nil || hasInputEnded {
            end(context)
        }
    }

    func read(context: ChannelHandlerContext) { if waiting.isEmpty { context.read() } else { isReadHeld = true } }

    private func readAgain(_ context: ChannelHandlerContext) {
        isReadHeld = false
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Heads of streams come whole; while something waits there was nothing to read but the end.
        if !hasReadPart, !hasEnded, !isStream, waiting.isEmpty { phase.headBegins(at: .now()) }
        hasReadPart = false
        answeredAtOnce = 0
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { takeWhatWaits(context) }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, !hasEnded else {
            // Whoever hears of one, as of bytes behind what was no HTTP, closes a connection that has an answer to come.
            if isStream || !(hasEnded || isBusy) { context.fireErrorCaught(error) }
            return
        }
        fault = error == .headerOverflow ? .headersTooLarge(limitBytes: limits.headerBytes) : .malformed
        endWhereAllIsSaid(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // A stream is its one request. A connection in which one arrives or is answered is not silent; its answer will be the last.
        case is ChannelShouldQuiesceEvent where isStream || isBusy: isEnding = true
        case ChannelEvent.inputClosed where !isStream:
            hasInputEnded = true
            // Half a request was an error before.
            endWhereAllIsSaid(context)
        case _: context.fireUserInboundEventTriggered(event)
        }
    }

    private var isBusy: Bool { phase.isReceiving || phase.isAnswering || !waiting.isEmpty }

    /// Does what is due, and sees to it that the next thing due will be done.
    private func look(_ context: ChannelHandlerContext) {
        timer = nil
        guard !hasEnded else { return }
        let now = NIODeadline.now()
        switch phase.verdict(at: now, limits) {
        case .wait(let until):
            // Not longer than a request has to arrive: one that begins meanwhile would be forgotten.
            let until = min(until, now + .seconds(Int64(limits.arrivalSeconds)))
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: until) { self.look(context) }
        case .close: !isStream && context.channel.hasUnsentBytes ? end(context) : context.close(promise: nil)
        case .refuseSlowArrival:
            isEnding = true
            refuse(.tooSlow, context)
        case .refuseSlowAnswer:
            isEnding = true
            phase.answerEnds(at: now)
            // Its route may end some time, and is then counted besides.
            refuse(.unavailable, context)
            // A stream may stay, with a client that does not read.
            look(context)
        }
    }
}

// MARK: Answers

extension ClientConnection {
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // Whoever closes an idle connection does not see that it is none, nor that an answer is still on its way.
        guard mode == .all, !isStream, hasEnded || isBusy || context.channel.hasUnsentBytes else {
            context.close(mode: mode, promise: promise)
            return
        }
        if let promise { context.channel.closeFuture.cascade(to: promise) }
        if !hasEnded, !isBusy { end(context) }
    }

    /// Answers where no route will.
    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        if let arrival { write(responder.refuse(head, from: arrival, refusal), context) }
    }

    private func write(_ answer: consuming Answer, _ context: ChannelHandlerContext) {
        head = nil
        guard context.channel.isActive else { return }
        if drain.hasBegun { isEnding = true }
        let isLast = isEnding && !isStream
        // Before it is sent, since whoever hears that there is room again would take the next.
        if isLast { hasEnded = true }
        answer.tellLength()
        // 204 and 304 have no body, whose length could be told. Source: RFC 9110, section 8.6.
        if [204, 304].contains(answer.status.code) { answer.headers[.contentLength] = nil }
        answer.headers.append(HTTPField(name: .date, value: HTTPDate.now))
        if isLast { answer.headers[.connection] = "close" }
        let head = HTTPResponse(status: answer.status, headerFields: answer.headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if answer.body.readableBytes > 0 { context.write(wrapOutboundOut(.body(answer.body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if isLast { return end(context) }
        // A stream ends by itself, unless what it asks is still to come.
        if isEnding, phase.isReceiving { context.close(promise: nil) }
    }

    private func end(_ context: ChannelHandlerContext) {
        hasEnded = true
        timer?.cancel()
        // What still comes is read, and thrown away.
        waiting.removeAll()
        if isReadHeld { readAgain(context) }
        ending = ConnectionEnd(of: context, hasInputEnded: hasInputEnded, within: limits.answerSeconds)
    }
}

internal import NIOCore

/// What a connection is at, and since when. Times are looked at when a timer fires, so that a request costs one look at the clock.
struct ConnectionPhase {
    enum Reading: Hashable {
        case nothing
        /// - Parameter hasBegun: whether a byte of it has come
        case head(since: NIODeadline, hasBegun: Bool)
        /// - Parameter since: when the head began
        case body(since: NIODeadline)
        /// The rest of a body whose request is on its way already.
        case rest(since: NIODeadline)
    }

    /// What is to be done about a connection now.
    enum Verdict: Hashable {
        case wait(until: NIODeadline)
        /// Nobody waits for an answer, or the connection has been silent for long.
        case close
        /// A request does not arrive.
        case refuseSlowArrival
        /// The request is with its route, which takes too long.
        case refuseSlowAnswer
    }

    private(set) var reading: Reading
    /// Requests whose answer is still to come. More than one where the client does not wait for answers.
    private(set) var unanswered = 0
    private var unansweredSince: NIODeadline
    /// When something came last, or an answer that it was waited for went.
    private var activeAt: NIODeadline

    /// A connection whose first request is to come.
    init(at now: NIODeadline) {
        reading = .head(since: now, hasBegun: false)
        unansweredSince = now
        activeAt = now
    }

    /// A part of a head has come.
    mutating func headBegins(at now: NIODeadline) {
        switch reading {
        case .nothing, .head(_, hasBegun: false): reading = .head(since: now, hasBegun: true)
        case .head, .body, .rest: break
        }
    }

    mutating func headEnds(at now: NIODeadline) {
        activeAt = now
        if case .head(let since, hasBegun: true) = reading { reading = .body(since: since) } else { reading = .body(since: now) }
    }

    /// The request is on its way before its body has ended.
    mutating func isSent() { if case .body(let since) = reading { reading = .rest(since: since) } }

    mutating func bodyEnds() { reading = .nothing }

    /// Whether a request has begun to arrive that no route knows of.
    var isReceiving: Bool {
        switch reading {
        case .head(_, let hasBegun): hasBegun
        case .body: true
        case .nothing, .rest: false
        }
    }

    mutating func asks(at now: NIODeadline) {
        if unanswered == 0 { unansweredSince = now }
        unanswered += 1
    }

    mutating func isAnswered(at now: NIODeadline) {
        unanswered -= 1
        (unansweredSince, activeAt) = (now, now)
    }

    func verdict(at now: NIODeadline, _ limits: ConnectionLimits) -> Verdict {
        let arrival = TimeAmount.seconds(Int64(limits.arrivalSeconds))
        switch reading {
        case .head(let since, let hasBegun):
            if now < since + arrival { return .wait(until: since + arrival) }
            return hasBegun ? .refuseSlowArrival : .close
        case .body(let since):
            return now < since + arrival ? .wait(until: since + arrival) : .refuseSlowArrival
        case .rest(let since) where unanswered == 0:
            return now < since + arrival ? .wait(until: since + arrival) : .close
        case .rest, .nothing: break
        }
        guard unanswered > 0 else {
            let end = activeAt + .seconds(Int64(limits.idleSeconds))
            return now < end ? .wait(until: end) : .close
        }
        var end = unansweredSince + .seconds(Int64(limits.answerSeconds))
        // What is still to come of it may take its time.
        if reading != .nothing { end = end + arrival }
        return now < end ? .wait(until: end) : .refuseSlowAnswer
    }
}

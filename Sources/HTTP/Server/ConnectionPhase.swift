internal import NIOCore

/// What a connection is at, and since when. Times are looked at when a timer fires, so that a request costs a look at the clock when
/// its head has come and, where it is not answered at once, two more.
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
        /// Nobody waits for an answer.
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
    /// When a head came last, or an answer that was waited for went.
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
        let first = [arrivalEnds(limits), answerEnds(limits)].compactMap(\.self).min { $0.at < $1.at }
        let (end, verdict) = first ?? (at: activeAt + .seconds(Int64(limits.idleSeconds)), verdict: .close)
        return now < end ? .wait(until: end) : verdict
    }

    /// When what is being read must have come; nil while nothing is, or what comes is part of a request that is being answered.
    private func arrivalEnds(_ limits: ConnectionLimits) -> (at: NIODeadline, verdict: Verdict)? {
        let arrival = TimeAmount.seconds(Int64(limits.arrivalSeconds))
        return switch reading {
        case .head(let since, let hasBegun): (since + arrival, hasBegun ? .refuseSlowArrival : .close)
        case .body(let since): (since + arrival, .refuseSlowArrival)
        case .rest(let since) where unanswered == 0: (since + arrival, .close)
        case .rest, .nothing: nil
        }
    }

    private func answerEnds(_ limits: ConnectionLimits) -> (at: NIODeadline, verdict: Verdict)? {
        guard unanswered > 0 else { return nil }
        var seconds = limits.answerSeconds
        // What is still to come of it may take its time.
        if case .rest = reading { seconds += limits.arrivalSeconds }
        return (unansweredSince + .seconds(Int64(seconds)), .refuseSlowAnswer)
    }
}

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
        /// The rest of a body whose request is answered without it.
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
    /// nil while no answer is to come.
    private var answeringSince: NIODeadline?
    /// When a head came last, or an answer that was waited for went.
    private var activeAt: NIODeadline

    /// A connection whose first request is to come.
    init(at now: NIODeadline) {
        reading = .head(since: now, hasBegun: false)
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

    /// What is still to come of the body is of no use to anybody.
    mutating func isAsked() { if case .body(let since) = reading { reading = .rest(since: since) } }

    mutating func bodyEnds() { reading = .nothing }

    /// Whether a request has begun to arrive that is not answered yet.
    var isReceiving: Bool {
        switch reading {
        case .head(_, let hasBegun): hasBegun
        case .body: true
        case .nothing, .rest: false
        }
    }

    var isRest: Bool { if case .rest = reading { true } else { false } }

    mutating func answerBegins(at now: NIODeadline) { answeringSince = now }

    mutating func answerEnds(at now: NIODeadline) {
        (answeringSince, activeAt) = (nil, now)
        // The next request has its time from now on: nobody was waiting for it.
        if case .head(_, let hasBegun) = reading { reading = .head(since: now, hasBegun: hasBegun) }
    }

    /// Whether a request is with its route.
    var isAnswering: Bool { answeringSince != nil }

    func verdict(at now: NIODeadline, _ limits: ConnectionLimits) -> Verdict {
        let (end, verdict) = next(limits)
        return now < end ? .wait(until: end) : verdict
    }

    /// What will be the matter if nothing happens, and when.
    private func next(_ limits: ConnectionLimits) -> (at: NIODeadline, verdict: Verdict) {
        let arrival = TimeAmount.seconds(Int64(limits.arrivalSeconds))
        if let answeringSince {
            let answer = answeringSince + .seconds(Int64(limits.answerSeconds))
            // What is still to come of its request may take its time.
            return (isRest ? answer + arrival : answer, .refuseSlowAnswer)
        }
        return switch reading {
        case .head(let since, let hasBegun): (since + arrival, hasBegun ? .refuseSlowArrival : .close)
        case .body(let since): (since + arrival, .refuseSlowArrival)
        case .rest(let since): (since + arrival, .close)
        case .nothing: (activeAt + .seconds(Int64(limits.idleSeconds)), .close)
        }
    }
}

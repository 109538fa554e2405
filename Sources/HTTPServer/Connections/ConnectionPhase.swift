internal import NIOCore

/// What a connection or stream is doing, and since when. The clock is read when a head has come and, if the response needs a task,
/// twice more.
struct ConnectionPhase {
    enum Reading: Hashable {
        case nothing
        /// - Parameter hasBegun: whether a byte of it has come
        case head(since: NIODeadline, hasBegun: Bool)
        /// - Parameter since: the begin of the head
        case body(since: NIODeadline)
        /// The rest of a body. Its request has been passed on without it.
        case rest(since: NIODeadline)
    }

    /// What the connection must do now.
    enum DueAction: Hashable {
        case wait(until: NIODeadline)
        /// No client waits for a response.
        case close
        /// A request has not arrived in time.
        case refuseSlowArrival
        /// The response has not been ready in time.
        case refuseSlowResponse
    }

    private(set) var reading: Reading
    /// `nil` while no task works on a response.
    private var respondingSince: NIODeadline?
    /// The last time that a head came, or that a response of a task was sent.
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

    /// The request is passed on without the rest of its body.
    mutating func bodyIsCutOff() { if case .body(let since) = reading { reading = .rest(since: since) } }

    mutating func bodyEnds() { reading = .nothing }

    /// Whether a request has begun to arrive that is not passed on yet.
    var isReceiving: Bool {
        switch reading {
        case .head(_, let hasBegun): hasBegun
        case .body: true
        case .nothing, .rest: false
        }
    }

    var isRest: Bool { if case .rest = reading { true } else { false } }

    mutating func responseBegins(at now: NIODeadline) { respondingSince = now }

    mutating func responseEnds(at now: NIODeadline) {
        (respondingSince, activeAt) = (nil, now)
        // The next request has its time from now on: the connection did not wait for it before.
        if case .head(_, let hasBegun) = reading { reading = .head(since: now, hasBegun: hasBegun) }
    }

    /// Whether a task works on a response.
    var isResponding: Bool { respondingSince != nil }

    func dueAction(at now: NIODeadline, _ limits: ConnectionLimits) -> DueAction {
        let (end, action) = next(limits)
        return now < end ? .wait(until: end) : action
    }

    /// The action that is due if nothing happens, and its time.
    private func next(_ limits: ConnectionLimits) -> (at: NIODeadline, action: DueAction) {
        let arrival = TimeAmount.seconds(Int64(limits.arrivalSeconds))
        if let respondingSince {
            let end = respondingSince + .seconds(Int64(limits.responseSeconds))
            // The rest of the body may take its time.
            return (isRest ? end + arrival : end, .refuseSlowResponse)
        }
        return switch reading {
        case .head(let since, let hasBegun): (since + arrival, hasBegun ? .refuseSlowArrival : .close)
        case .body(let since): (since + arrival, .refuseSlowArrival)
        case .rest(let since): (since + arrival, .close)
        case .nothing: (activeAt + .seconds(Int64(limits.idleSeconds)), .close)
        }
    }
}

internal import NIOCore

/// The times since which a connection waits, and the timeout that is due next. The clock is read when a head has arrived and, if the
/// response needs a task, twice more.
struct ConnectionTimeouts {
    enum Reading: Hashable {
        case nothing
        /// - Parameter hasBegun: whether the first byte of the head has arrived
        case head(since: NIODeadline, hasBegun: Bool)
        /// - Parameter since: the start of the head
        case body(since: NIODeadline)
        /// The rest of a body. Its request has been passed on without it.
        case rest(since: NIODeadline)
    }

    /// The action that is due for a connection.
    enum DueAction: Hashable {
        case wait(until: NIODeadline)
        /// Close the connection: no client waits for a response.
        case close
        /// Send 408: a request has not arrived in time.
        case refuseSlowArrival
        /// Send 503: the response has not been ready in time.
        case refuseSlowResponse
    }

    private(set) var reading: Reading
    /// `nil` while no task works on a response.
    private var respondingSince: NIODeadline?
    /// The last time at which a head arrived or a task's response was sent.
    private var activeAt: NIODeadline

    /// The times of a new connection, which waits for its first request.
    init(at now: NIODeadline) {
        reading = .head(since: now, hasBegun: false)
        activeAt = now
    }

    /// A part of a head has arrived.
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
        // The time of the next request begins now: the connection did not wait for that request before.
        if case .head(_, let hasBegun) = reading { reading = .head(since: now, hasBegun: hasBegun) }
    }

    /// Whether a task works on a response.
    var isResponding: Bool { respondingSince != nil }

    /// The time since which no request arrives and no task works on a response; `nil` in between.
    var idleSince: NIODeadline? { isReceiving || isRest || isResponding ? nil : activeAt }

    func dueAction(at now: NIODeadline, _ limits: ConnectionLimits) -> DueAction {
        let (end, action) = next(limits)
        return now < end ? .wait(until: end) : action
    }

    /// The next action if the connection stays idle, and its time.
    private func next(_ limits: ConnectionLimits) -> (at: NIODeadline, action: DueAction) {
        let arrival = TimeAmount.seconds(Int64(limits.arrivalSeconds))
        if let respondingSince {
            let end = respondingSince + .seconds(Int64(limits.responseSeconds))
            // While the rest of the body arrives, the response may take longer by the arrival limit.
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

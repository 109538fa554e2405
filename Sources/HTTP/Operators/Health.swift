internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Synchronization

/// The health of a node, and the states that it depends on.
struct Health: Sendable {
    enum Status: String, Sendable {
        case ok
        /// The index may be stale while writes fail, or the index loads again while writes go on.
        case degraded
        /// The index loads for the first time.
        case starting
        /// The node drains and wants no more requests.
        case stopping
        case unavailable
    }

    /// Whether PostgreSQL answers; `nil` if the node did not ask it.
    var isDatabaseThere: Bool?
    var index: InMemoryPhase
    /// Whether the index may lack the newest events.
    var isMemoryStale: Bool
    /// Whether the index was not in use yet.
    var isStarting = false
    var isDraining = false
    /// Whether requests may be answered from what the node has.
    var mayAnswer = true

    var status: Status {
        if isDraining { return .stopping }
        guard mayAnswer else { return .unavailable }
        return switch index {
        case .loading where isStarting: .starting
        case .loading: isDatabaseThere == true ? .degraded : .unavailable
        case .inUse: isDatabaseThere == true && !isMemoryStale ? .ok : .degraded
        case .off: isDatabaseThere == true ? .ok : .unavailable
        }
    }

    /// Whether a load balancer sends requests to the node. Without PostgreSQL, a node with an index still serves reads, as well
    /// as any other node. All nodes load their index again at once, when the log lost its end.
    var isReady: Bool {
        switch status {
        case .ok, .degraded: true
        case .starting, .stopping, .unavailable: false
        }
    }

    var response: Response {
        var response = Response(
            status: isReady ? .ok : .serviceUnavailable,
            json: [
                "status": .string(status.rawValue),
                "database": .string(isDatabaseThere.map { $0 ? "ok" : "away" } ?? "unknown"),
                "index": .string(index.rawValue),
            ])
        if !isReady { response.headers[.retryAfter] = String(HTTPError.retryAfterSeconds) }
        return response
    }
}

extension API {
    func health() async -> Health {
        let index = events.indexStatus
        // A draining node answers without the database: near its end the connections are closed.
        guard !drain.hasBegun else {
            return Health(isDatabaseThere: nil, index: index.phase, isMemoryStale: index.isStale, isDraining: true)
        }
        return await Health(
            isDatabaseThere: database.isThere(), index: index.phase, isMemoryStale: index.isStale,
            isStarting: index.isStarting, mayAnswer: mayAnswer())
    }
}

/// Asks at most once a second whether the database answers, and shares the result.
final class DatabaseCheck: Sendable {
    private static let validity = Duration.seconds(1)
    /// The probes of `deploy/` allow 2 seconds for the whole response.
    static let patienceSeconds = 1.5

    private let now: @Sendable () -> ContinuousClock.Instant
    private let ask: @Sendable () async throws -> Void
    private let last = Mutex<(begun: ContinuousClock.Instant, answer: Task<Bool, Never>)?>(nil)

    /// - Parameter ask: throws if the database does not answer; cancelled after ``patienceSeconds``
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, _ ask: @escaping @Sendable () async throws -> Void
    ) {
        self.now = now
        self.ask = ask
    }

    func isThere() async -> Bool {
        let answer = last.withLock { last in
            let now = now()
            if let last, now - last.begun < Self.validity { return last.answer }
            let answer = Task { [ask] in (try? await Deadline.run(within: Self.patienceSeconds, ask)) != nil }
            last = (now, answer)
            return answer
        }
        return await answer.value
    }
}

internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Synchronization

/// Whether a node is to be sent requests, and what that depends on.
struct Health: Sendable {
    enum Status: String, Sendable {
        case ok
        /// Reads go on, from the index, which may not be the newest; writes may not.
        case degraded
        /// The index is being filled.
        case starting
        /// The node drains: it is to be sent nothing more.
        case stopping
        case unavailable
    }

    /// nil: it was not asked.
    var isDatabaseThere: Bool?
    var index: IndexStatus.Phase
    /// Whether what it holds may not be the newest.
    var isMemoryStale: Bool
    var isDraining = false

    var status: Status {
        if isDraining { return .stopping }
        return switch index {
        case .filling: .starting
        case .inUse: isDatabaseThere == true && !isMemoryStale ? .ok : .degraded
        case .off, .tooSmall, .interrupted: isDatabaseThere == true ? .ok : .unavailable
        }
    }

    /// A node that was cut off from PostgreSQL is still good for reading, and as good as any other: so it is not taken out.
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
        // Who is about to stop says so at once, and till the end, when the database may not be asked any more.
        guard !drain.hasBegun else {
            return Health(isDatabaseThere: nil, index: index.phase, isMemoryStale: index.isStale, isDraining: true)
        }
        return await Health(isDatabaseThere: database.isThere(), index: index.phase, isMemoryStale: index.isStale)
    }
}

/// Whether the database is there: asked at most once a second, for everybody who wants to know meanwhile.
final class DatabaseCheck: Sendable {
    private static let validity = Duration.seconds(1)

    private let now: @Sendable () -> ContinuousClock.Instant
    private let ask: @Sendable () async throws -> Void
    private let last = Mutex<(begun: ContinuousClock.Instant, answer: Task<Bool, Never>)?>(nil)

    /// - Parameter ask: throws where it is not
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
            let answer = Task { [ask] in (try? await ask()) != nil }
            last = (now, answer)
            return answer
        }
        return await answer.value
    }
}

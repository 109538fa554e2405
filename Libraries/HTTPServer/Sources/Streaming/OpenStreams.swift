internal import Synchronization
internal import Telemetry

/// The reason why a stream has ended.
public enum StreamEnd: Int, Sendable, CaseIterable {
    /// The producer ended it.
    case finished
    /// The client left, or reset the stream.
    case disconnected
    /// The client left too many bytes unread.
    case slow
    /// The server drains or shuts down.
    case drained
    /// The producer could not go on.
    case failed
}

/// The open streams of a server: limits their number, and ends them. They do not count among the requests in flight.
public final class OpenStreams: Sendable {
    private struct State {
        var count = 0
        var addresses: [NetworkAddress: Int] = [:]
        var users: [String: Int] = [:]
        var writers: [ObjectIdentifier: ResponseWriter] = [:]
        /// Whether no more streams may begin.
        var isClosed = false

        /// Clients without a stream have no entry.
        mutating func add(_ number: Int, for client: StreamClient) {
            count += number
            if let address = client.address { addresses.add(number, for: address) }
            if let user = client.user { users.add(number, for: user) }
        }
    }

    /// Maximum numbers of open streams.
    public let limits: StreamLimits
    private let openings: RateLimiter
    private let state = Mutex(State())
    private let ends = Counter(count: StreamEnd.allCases.count)
    private let refused = Atomic(0)

    public init(_ limits: StreamLimits = StreamLimits()) {
        self.limits = limits
        openings = RateLimiter(perMinute: limits.openingsPerMinute)
    }

    public var count: Int { state.withLock { $0.count } }
    /// The number of streams refused because of a limit, or because the server drains.
    public var refusals: Int { refused.load(ordering: .relaxed) }

    /// The number of streams that have ended for a reason.
    public subscript(end: StreamEnd) -> Int { ends[end.rawValue] }

    /// Counts a stream until the permit leaves memory or the stream ends.
    /// - Throws: `HTTPError.overloaded` if all streams are taken or the server drains; `HTTPError.tooManyStreams` or
    ///   `HTTPError.tooManyRequests` if the client has or opens too many
    func permit(for client: StreamClient) throws(HTTPError) -> StreamPermit {
        do throws(HTTPError) {
            try state.withLock { state throws(HTTPError) in
                guard !state.isClosed, state.count < limits.total else { throw .overloaded }
                try client.address.map { address throws(HTTPError) in
                    try Self.check(state.addresses[address], limits.perAddress)
                }
                try client.user.map { user throws(HTTPError) in try Self.check(state.users[user], limits.perUser) }
                if let address = client.address { try openings.take(address) }
                state.add(1, for: client)
            }
        } catch {
            refused.add(1, ordering: .relaxed)
            throw error
        }
        return StreamPermit(self, client)
    }

    private static func check(_ count: Int?, _ limit: Int) throws(HTTPError) {
        guard limit == 0 || count ?? 0 < limit else { throw .tooManyStreams }
    }

    /// Ends every stream properly. No further stream begins. A second call ends the streams that their producers did not end in time.
    func finishAll() {
        let writers = state.withLock { state in
            state.isClosed = true
            return Array(state.writers.values)
        }
        for writer in writers { writer.drain() }
    }

    fileprivate func end(_ client: StreamClient) { state.withLock { $0.add(-1, for: client) } }

    func add(_ writer: ResponseWriter) {
        let isClosed = state.withLock { state in
            state.writers[ObjectIdentifier(writer)] = writer
            return state.isClosed
        }
        if isClosed { writer.finish(as: .drained) }
    }

    func remove(_ writer: ResponseWriter, _ end: StreamEnd) {
        ends.add(at: end.rawValue)
        state.withLock { _ = $0.writers.removeValue(forKey: ObjectIdentifier(writer)) }
    }
}

extension Dictionary where Value == Int {
    fileprivate mutating func add(_ number: Int, for key: Key) {
        let sum = self[key, default: 0] + number
        self[key] = sum > 0 ? sum : nil
    }
}

/// The permission for one stream. The stream counts while the permit is in memory.
final class StreamPermit: Sendable {
    let streams: OpenStreams
    private let client: StreamClient

    init(_ streams: OpenStreams, _ client: StreamClient) {
        self.streams = streams
        self.client = client
    }

    deinit { streams.end(client) }
}

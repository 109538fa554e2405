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
}

/// The open streams of a server: limits their number, and ends them. They do not count among the requests in flight.
public final class OpenStreams: Sendable {
    private struct State {
        var count = 0
        var writers: [ObjectIdentifier: ResponseWriter] = [:]
        /// Whether no more streams may begin.
        var isClosed = false
    }

    /// Maximum number of open streams.
    public let limit: Int
    private let state = Mutex(State())
    private let ends = Counter(count: StreamEnd.allCases.count)
    private let refused = Atomic(0)

    /// - Parameter limit: maximum number of open streams; 0 for none
    public init(limit: Int = 1_000) { self.limit = limit }

    public var count: Int { state.withLock { $0.count } }
    /// The number of streams refused because of the limit, or because the server drains.
    public var refusals: Int { refused.load(ordering: .relaxed) }

    /// The number of streams that have ended for a reason.
    public subscript(end: StreamEnd) -> Int { ends[end.rawValue] }

    /// Counts a stream until the permit leaves memory or the stream ends.
    /// - Returns: `nil` if the limit is reached, or if the server drains
    func permit() -> StreamPermit? {
        let isPermitted = state.withLock { state in
            guard !state.isClosed, state.count < limit else { return false }
            state.count += 1
            return true
        }
        guard isPermitted else {
            refused.add(1, ordering: .relaxed)
            return nil
        }
        return StreamPermit(self)
    }

    /// Ends every stream properly. No further stream begins.
    func finishAll() {
        let writers = state.withLock { state in
            state.isClosed = true
            return Array(state.writers.values)
        }
        for writer in writers { writer.finish(as: .drained) }
    }

    fileprivate func end() { state.withLock { $0.count -= 1 } }

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

/// The permission for one stream. The stream counts while the permit is in memory.
final class StreamPermit: Sendable {
    let streams: OpenStreams

    init(_ streams: OpenStreams) { self.streams = streams }

    deinit { streams.end() }
}

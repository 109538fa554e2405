internal import NIOCore
internal import Synchronization

/// Writes the body of a ``ResponseStream``, from any thread.
///
/// The writer collects bytes under a lock, and passes them to the channel in one task of its event loop. ``write(_:)`` never waits: a client
/// that leaves more than ``unsentLimitBytes`` unread is disconnected. So is a client if the server's ``BufferBudget`` has no room.
public final class ResponseWriter: Sendable {
    /// Maximum number of bytes that wait for one client in its channel. At most as many more wait for the event loop.
    public static let unsentLimitBytes = 1_048_576
    /// The time that a producer has to end its stream after the drain has begun.
    private static let drainPatience = Duration.seconds(1)

    /// The bytes that ``writeAtPaceOfClient(_:)`` writes between two looks at the client.
    private static let pieceBytes = 65_536
    private static let roomPause = Duration.milliseconds(20)
    private static let roomPatience = Duration.seconds(60)

    private struct State {
        /// The budget counts these bytes.
        var pending = ByteBuffer()
        /// Whether the event loop will pass the pending bytes on.
        var isFlushDue = false
        /// The reason to end the stream after the pending bytes.
        var end: StreamEnd?
        var isClosed = false
        /// Ends the stream when the server drains.
        var onDrain: (@Sendable () -> Void)?
        /// The time at which the drain began.
        var drainsSince: ContinuousClock.Instant?
        var onClose: [@Sendable () -> Void] = []
        var permit: StreamPermit?
    }

    private let state: Mutex<State>
    private let eventLoop: any EventLoop
    private let budget: BufferBudget
    /// `nil` once the stream is closed, so that the writer keeps no connection in memory.
    private let outlet: NIOLoopBoundBox<StreamOutlet?>

    init(_ outlet: StreamOutlet, _ permit: StreamPermit?) {
        state = Mutex(State(permit: permit))
        eventLoop = outlet.eventLoop
        budget = outlet.budget
        self.outlet = NIOLoopBoundBox(outlet, eventLoop: eventLoop)
    }

    /// Writes bytes that the client gets in the order of the calls. Does nothing after the end.
    public func write(_ bytes: some Sequence<UInt8>) {
        flushSoon { state in
            let counted = state.pending.readableBytes
            state.pending.writeBytes(bytes)
            let isSmall = state.pending.readableBytes <= Self.unsentLimitBytes
            guard !isSmall || !budget.takeForStream(state.pending.readableBytes - counted) else { return }
            budget.remove(counted)
            state.pending = ByteBuffer()
            state.end = .slow
        }
    }

    /// Writes bytes at the pace of the client, for a producer that is faster: it waits while a quarter of ``unsentLimitBytes`` is unread.
    /// A client that reads too slowly for a minute is disconnected.
    /// - Returns: whether the bytes were written. If not, the stream has ended, or the task is cancelled
    public func writeAtPaceOfClient(_ bytes: [UInt8]) async -> Bool {
        for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
            guard await hasRoom() else { return false }
            write(bytes[start..<min(start + Self.pieceBytes, bytes.count)])
        }
        return true
    }

    private func hasRoom() async -> Bool {
        let deadline = ContinuousClock.now + Self.roomPatience
        while ContinuousClock.now < deadline {
            // The event loop passes the pending bytes on before it answers.
            let unread = try? await eventLoop.submit { self.outlet.value?.unsentBytes }.get()
            guard let unread else { return false }
            if unread <= Self.unsentLimitBytes / 4 { return true }
            do { try await Task.sleep(for: Self.roomPause) } catch { return false }
        }
        finish(as: .slow)
        return false
    }

    /// Ends the stream after the bytes that were written.
    public func finish() {
        flushSoon { $0.end = $0.drainsSince == nil ? .finished : .drained }
    }

    /// Breaks the connection off, so that the client knows that bytes are missing.
    public func abort() { finish(as: .failed) }

    func finish(as end: StreamEnd) { flushSoon { $0.end = end } }

    /// Sets an action that ends the stream when the server drains, within ``drainPatience``. Without it the stream just ends.
    public func onDrain(_ action: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isClosed { $0.onDrain = action } }
    }

    /// Lets the producer end the stream, and ends it if the producer had its time.
    func drain() {
        let (action, isDue) = state.withLock { state in
            let (action, isFirst) = (state.onDrain, state.drainsSince == nil)
            let since = state.drainsSince ?? .now
            state.drainsSince = since
            return (isFirst ? action : nil, action == nil || .now - since > Self.drainPatience)
        }
        action?()
        if isDue { finish(as: .drained) }
    }

    /// Calls the action once, when the stream has ended for any reason; immediately if it has ended already.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.onClose.append(action) }
            return state.isClosed
        }
        if isClosed { action() }
    }

    /// The client has disconnected. Called on the event loop.
    func disconnected() { close(.disconnected) }

    private func flushSoon(_ change: (inout State) -> Void) {
        let mustSchedule = state.withLock { state in
            guard !state.isClosed, state.end == nil else { return false }
            change(&state)
            defer { state.isFlushDue = true }
            return !state.isFlushDue
        }
        if mustSchedule { eventLoop.execute { self.flush() } }
    }

    private func flush() {
        let (bytes, end) = state.withLock { state in
            state.isFlushDue = false
            defer { state.pending = ByteBuffer() }
            return (state.pending, state.end)
        }
        // From here on the channel counts them.
        defer { budget.remove(bytes.readableBytes) }
        guard let outlet = outlet.value else { return }
        guard end != .slow, end != .failed, outlet.unsentBytes + bytes.readableBytes <= Self.unsentLimitBytes else {
            close(end == .failed ? .failed : .slow)
            return outlet.abort()
        }
        if bytes.readableBytes > 0 { outlet.write(bytes) }
        guard let end else { return }
        close(end)
        outlet.finish()
    }

    private func close(_ end: StreamEnd) {
        let closed = state.withLock { state -> State? in
            guard !state.isClosed else { return nil }
            defer { state = State(isClosed: true) }
            return state
        }
        guard let closed else { return }
        outlet.value = nil
        budget.remove(closed.pending.readableBytes)
        closed.permit?.streams.remove(self, end)
        for action in closed.onClose { action() }
    }
}

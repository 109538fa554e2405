internal import NIOCore
internal import Synchronization

/// Writes the body of a ``ResponseStream``, from any thread.
///
/// The writer collects bytes under a lock, and passes them to the channel in one task of its event loop. It never waits: a client
/// that leaves more than ``unsentLimitBytes`` unread is disconnected.
public final class ResponseWriter: Sendable {
    /// Maximum number of bytes that wait for one client.
    public static let unsentLimitBytes = 1_048_576

    private struct State {
        var pending = ByteBuffer()
        /// Whether the event loop will pass the pending bytes on.
        var isFlushDue = false
        /// The reason to end the stream after the pending bytes.
        var end: StreamEnd?
        var isClosed = false
        var onClose: [@Sendable () -> Void] = []
        var permit: StreamPermit?
    }

    private let state: Mutex<State>
    private let eventLoop: any EventLoop
    /// `nil` once the stream is closed, so that the writer keeps no connection in memory.
    private let outlet: NIOLoopBoundBox<(any StreamOutlet)?>

    init(_ outlet: any StreamOutlet, _ permit: StreamPermit?) {
        state = Mutex(State(permit: permit))
        eventLoop = outlet.eventLoop
        self.outlet = NIOLoopBoundBox(outlet, eventLoop: eventLoop)
    }

    /// Writes bytes that the client gets in the order of the calls. Does nothing after the end.
    public func write(_ bytes: some Sequence<UInt8>) {
        flushSoon { state in
            state.pending.writeBytes(bytes)
            guard state.pending.readableBytes > Self.unsentLimitBytes else { return }
            state.pending = ByteBuffer()
            state.end = .slow
        }
    }

    /// Ends the stream after the bytes that were written.
    public func finish() { finish(as: .finished) }

    func finish(as end: StreamEnd) { flushSoon { $0.end = end } }

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
        guard let outlet = outlet.value else { return }
        guard end != .slow, outlet.unsentBytes + bytes.readableBytes <= Self.unsentLimitBytes else {
            close(.slow)
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
        closed.permit?.streams.remove(self, end)
        for action in closed.onClose { action() }
    }
}

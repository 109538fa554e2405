internal import NIOCore

/// Counts the bytes that one connection has not sent yet, and closes it if its client is a slow reader and the server is short of room.
/// Belongs to the event loop of the connection.
final class UnsentBytes {
    /// Large bodies are written in pieces of this size, so that the client's progress is visible.
    private static let pieceBytes = 64 * 1024
    private static let checkInterval = TimeAmount.seconds(1)

    let budget: BufferBudget
    /// The bytes written since the last promise.
    private var uncounted = 0
    /// The bytes that the budget counts for this connection.
    private(set) var counted = 0
    private var progressAt = NIODeadline.now()
    /// Ends by itself when nothing is unsent, so that a response does not need to cancel it.
    private var timer: Scheduled<Void>?

    init(_ budget: BufferBudget) { self.budget = budget }

    /// Counts bytes that are about to be written.
    /// - Parameter reserved: what the budget counts already of these bytes
    /// - Returns: the promise to pass to that write. `nil` while so few bytes are uncounted that they need none.
    func willWrite(_ bytes: Int, reserved: ReservedBytes? = nil, _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
        uncounted += bytes
        guard uncounted >= BufferBudget.trackedBytes else { return nil }
        let bytes = uncounted
        uncounted = 0
        budget.add(bytes - (reserved?.handOver() ?? 0))
        if counted == 0 { progressAt = .now() }
        counted += bytes
        if timer == nil { schedule(context.channel) }
        // The promise failed or succeeded: in both cases the bytes are no longer in memory.
        return promise(context) { unsent in
            unsent.budget.remove(bytes)
            unsent.counted -= bytes
        }
    }

    /// Writes a body in pieces. They share the memory of the whole body, so all of it counts until the last piece is sent.
    /// - Parameters:
    ///   - reserved: what the budget counts already of the body
    ///   - write: writes one piece with the promise
    func write(
        _ body: ByteBuffer, reserved: ReservedBytes? = nil, _ context: ChannelHandlerContext,
        write: (ByteBuffer, EventLoopPromise<Void>?) -> Void
    ) {
        var rest = body
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0 {
            let isLast = rest.readableBytes == 0
            write(piece, isLast ? willWrite(body.storageCapacity, reserved: reserved, context) : promise(context) { _ in })
        }
    }

    /// A promise that notes when its write is sent.
    private func promise(_ context: ChannelHandlerContext, _ sent: @escaping (UnsentBytes) -> Void) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            sent(self)
            self.progressAt = .now()
        }
        return promise
    }

    // MARK: Slow readers

    private func schedule(_ connection: any Channel) {
        timer = connection.eventLoop.assumeIsolated().scheduleTask(in: Self.checkInterval) { self.check(connection) }
    }

    private func check(_ connection: any Channel) {
        timer = nil
        guard counted > 0 else { return }
        let isSlow = .now() - progressAt >= .seconds(Int64(BufferBudget.slowReaderSeconds))
        guard isSlow, budget.isUnderPressure else { return schedule(connection) }
        budget.countClosedConnection()
        connection.close(promise: nil)
    }

    func stopWatching() {
        timer?.cancel()
        timer = nil
    }
}

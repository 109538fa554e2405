internal import NIOCore

/// Counts the bytes that one connection or stream has not sent yet, and closes it if its client is a slow reader and the server is
/// short of room. Belongs to the event loop of its channel.
final class UnsentBytes {
    /// Large bodies are written in pieces of this size, so that the client's progress is visible.
    private static let pieceBytes = 64 * 1024

    private static let checkInterval = TimeAmount.seconds(1)

    let budget: BufferBudget
    /// The bytes written since the last promise.
    private var uncounted = 0
    /// The bytes that the budget counts for this channel.
    private(set) var counted = 0
    private var progressAt = NIODeadline.now()
    private var timer: Scheduled<Void>?

    init(_ budget: BufferBudget) { self.budget = budget }

    /// Counts bytes that are about to be written.
    /// - Returns: the promise to pass to that write. `nil` while so few bytes are uncounted that they need none.
    func willWrite(_ bytes: Int, _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
        uncounted += bytes
        guard uncounted >= BufferBudget.trackedBytes else { return nil }
        let bytes = uncounted
        uncounted = 0
        budget.add(bytes)
        if counted == 0 { progressAt = .now() }
        counted += bytes
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.hasSent(bytes) }
        if timer == nil { schedule(context) }
        return promise
    }

    /// Writes a body in pieces. They share the memory of the whole body, so all of it counts until the last piece is sent.
    /// - Parameter write: writes one piece with the promise
    func write(_ body: ByteBuffer, _ context: ChannelHandlerContext, write: (ByteBuffer, EventLoopPromise<Void>?) -> Void) {
        var rest = body
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0 {
            write(piece, rest.readableBytes == 0 ? willWrite(body.storageCapacity, context) : progress(context))
        }
    }

    /// A promise that notes when its write is sent.
    private func progress(_ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.progressAt = .now() }
        return promise
    }

    /// The promise failed or succeeded: in both cases the bytes are no longer in memory.
    private func hasSent(_ bytes: Int) {
        budget.remove(bytes)
        counted -= bytes
        progressAt = .now()
        if counted == 0 { stop() }
    }

    /// The timer runs while bytes are counted.
    private func schedule(_ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.checkInterval) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        let isSlow = .now() - progressAt >= .seconds(Int64(BufferBudget.slowReaderSeconds))
        guard isSlow, budget.isUnderPressure else { return schedule(context) }
        budget.countClosedConnection()
        context.close(promise: nil)
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }
}

internal import NIOCore

/// Counts the bytes that one connection or stream has not sent yet, and closes it if its client is a slow reader and the server is
/// short of room. Belongs to the event loop of its channel.
final class UnsentBytes {
    /// Large bodies are written in pieces of this size, so that the progress of a client is seen.
    static let pieceBytes = 64 * 1024

    private static let checkInterval = TimeAmount.seconds(1)

    private let budget: BufferBudget
    /// Bytes written since the last promise.
    private var uncounted = 0
    /// Bytes that the budget counts for this channel.
    private var counted = 0
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

    /// The promise failed or succeeded: in both cases the bytes are not in memory any more.
    private func hasSent(_ bytes: Int) {
        budget.remove(bytes)
        counted -= bytes
        progressAt = .now()
        if counted == 0 { stop() }
    }

    private func schedule(_ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.checkInterval) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        timer = nil
        guard counted > 0 else { return }
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

extension ByteBuffer {
    /// The bytes in pieces of at most ``UnsentBytes/pieceBytes``, which share this buffer's memory.
    mutating func readPiece() -> ByteBuffer? {
        readableBytes == 0 ? nil : readSlice(length: min(readableBytes, UnsentBytes.pieceBytes))
    }
}

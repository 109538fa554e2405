internal import NIOCore

/// Counts the bytes that one connection has not sent yet. Belongs to the event loop of the connection.
final class UnsentBytes {
    /// Large bodies are written in pieces of this size, so that the client's progress is visible.
    private static let pieceBytes = 64 * 1024

    private let reader: SlowReader
    /// The bytes written since the last promise.
    private var uncounted = 0
    /// The bytes that the budget counts for this connection.
    private(set) var counted = 0

    var budget: BufferBudget { reader.budget }

    init(_ reader: SlowReader) { self.reader = reader }

    /// Counts bytes that are about to be written.
    /// - Parameter reserved: what the budget counts already of these bytes
    /// - Returns: the promise to pass to that write. `nil` while so few bytes are uncounted that they need none.
    func willWrite(_ bytes: Int, reserved: ReservedBytes? = nil, _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
        uncounted += bytes
        guard uncounted >= BufferBudget.trackedBytes else { return nil }
        let bytes = uncounted
        uncounted = 0
        counted += bytes
        reader.add(bytes, reserved: reserved?.handOver() ?? 0, context.channel)
        let promise = context.eventLoop.makePromise(of: Void.self)
        // The promise failed or succeeded: in both cases the bytes are no longer in memory.
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.counted -= bytes
            self.reader.remove(bytes)
        }
        return promise
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
            write(piece, isLast ? willWrite(body.storageCapacity, reserved: reserved, context) : progress(context))
        }
    }

    func stopWatching() { reader.stop() }

    /// A promise that notes when its write is sent.
    private func progress(_ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.reader.progress() }
        return promise
    }
}

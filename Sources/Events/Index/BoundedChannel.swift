internal import Dispatch
internal import Postgres
internal import Synchronization

/// Passes rows from a connection's thread to the tasks that read them. If 16 batches wait, the thread blocks, and PostgreSQL
/// stops sending.
final class BoundedChannel: Sendable {
    private static let limit = 16

    let rows: AsyncStream<CopiedRows>
    private let continuation: AsyncStream<CopiedRows>.Continuation
    private let room = DispatchSemaphore(value: 0)
    private let isStopped = Atomic(false)

    init() {
        (rows, continuation) = AsyncStream.makeStream(of: CopiedRows.self)
        // The first value is 0, because libdispatch traps if a semaphore is freed with less than its first value.
        for _ in 0..<Self.limit { room.signal() }
    }

    /// Blocks the thread until there is room. Tasks must not call it.
    /// - Throws: `CancellationError` after ``stop()``
    func give(_ rows: CopiedRows) throws {
        room.wait()
        guard !isStopped.load(ordering: .acquiring) else { throw CancellationError() }
        continuation.yield(rows)
    }

    func wasTaken() { room.signal() }

    /// Ends the channel after the last rows.
    func finish() { continuation.finish() }

    /// Ends the channel for the connection's thread, because no task reads rows any more.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        room.signal()
    }
}

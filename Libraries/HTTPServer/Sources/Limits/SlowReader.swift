internal import NIOCore

/// Watches the unsent bytes of one connection, and closes it if its client is a slow reader and the server is short of room. Belongs to the event loop of the connection.
final class SlowReader {
    private static let checkInterval = TimeAmount.seconds(1)

    let budget: BufferBudget
    private var unsent = 0
    private var progressAt = NIODeadline.now()
    private var timer: Scheduled<Void>?

    init(_ budget: BufferBudget) { self.budget = budget }

    /// - Parameters:
    ///   - reserved: the number of bytes that the budget counts already
    ///   - connection: the channel to close
    func add(_ bytes: Int, reserved: Int = 0, _ connection: any Channel) {
        budget.add(bytes - reserved)
        if unsent == 0 { progressAt = .now() }
        unsent += bytes
        if timer == nil { schedule(connection) }
    }

    func remove(_ bytes: Int) {
        budget.remove(bytes)
        unsent -= bytes
        progress()
    }

    func progress() { progressAt = .now() }

    /// The timer ends by itself when nothing is unsent, so that a response does not need to cancel it.
    private func schedule(_ connection: any Channel) {
        timer = connection.eventLoop.assumeIsolated().scheduleTask(in: Self.checkInterval) { self.check(connection) }
    }

    private func check(_ connection: any Channel) {
        timer = nil
        guard unsent > 0 else { return }
        let isSlow = .now() - progressAt >= .seconds(Int64(BufferBudget.slowReaderSeconds))
        guard isSlow, budget.isUnderPressure else { return schedule(connection) }
        budget.countClosedConnection()
        connection.close(promise: nil)
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }
}

internal import Synchronization

/// Tasks that wait until a reader of the log, such as an index in memory, has reached a position.
final class PositionWaiters: Sendable {
    private struct State: Sendable {
        var waiting: [Int: (position: Int64, arrival: AsyncStream<Void>.Continuation)] = [:]
        var number = 0
    }

    /// Maximum number of waiting tasks.
    private static let limit = 1_000

    private let state = Mutex(State())

    /// Resumes the tasks that wait for this position or an earlier one.
    func reached(_ position: Int64) {
        state.withLock { state in
            for task in state.waiting.values where task.position <= position { task.arrival.yield() }
        }
    }

    /// Waits until the reader has reached a position.
    /// - Parameter reached: returns the present position of the reader
    /// - Returns: false if the time is over first, if the task is cancelled, or if 1,000 tasks wait already
    func wait(for position: Int64, seconds: Double, reached: @Sendable () -> Int64) async -> Bool {
        if reached() >= position { return true }
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = state.withLock { state in
            guard state.waiting.count < Self.limit else { return nil }
            state.number += 1
            state.waiting[state.number] = (position, arrival)
            return state.number
        }
        guard let number else { return false }
        defer { state.withLock { $0.waiting[number] = nil } }
        // Before this task was registered, the reader may have reached the position.
        if reached() >= position { return true }
        let deadline = Task {
            try? await Task.sleep(for: .seconds(seconds))
            arrival.finish()
        }
        defer { deadline.cancel() }
        for await _ in arrivals { return true }
        return false
    }
}

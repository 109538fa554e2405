internal import Synchronization

/// Tasks that wait until a reader of the log, such as an index in memory, has reached a position.
final class PositionWaiters: Sendable {
    private struct State: Sendable {
        var waiting: [Int: (position: Int64, continuation: CheckedContinuation<Bool, Never>)] = [:]
        /// The lowest position that a task waits for.
        var smallest = Int64.max
        var number = 0
    }

    /// Maximum number of waiting tasks.
    private static let limit = 1_000

    private let state = Mutex(State())

    /// Resumes the tasks that wait for this position or an earlier one.
    func reached(_ position: Int64) {
        let arrived = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard position >= state.smallest else { return [] }
            let arrived = state.waiting.filter { $0.value.position <= position }
            for number in arrived.keys { state.waiting[number] = nil }
            state.smallest = state.waiting.values.map(\.position).min() ?? .max
            return arrived.values.map(\.continuation)
        }
        for continuation in arrived { continuation.resume(returning: true) }
    }

    /// Waits until the reader has reached a position.
    /// - Parameter reached: returns the present position of the reader
    /// - Returns: false if the time is over first, if the task is cancelled, or if 1,000 tasks wait already
    func wait(for position: Int64, seconds: Double, reached: @Sendable () -> Int64) async -> Bool {
        if reached() >= position { return true }
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard state.waiting.count < Self.limit else { return false }
                    state.waiting[number] = (position, continuation)
                    state.smallest = min(state.smallest, position)
                    return true
                }
                guard isWaiting else { return continuation.resume(returning: false) }
                Task {
                    try? await Task.sleep(for: .seconds(seconds))
                    giveUp(number)
                }
                // Before this task was registered, the reader may have reached the position, or the task may have been cancelled.
                self.reached(reached())
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }
}

internal import Synchronization

/// Those who wait until something has reached a position of the log.
final class Arrivals: Sendable {
    private struct State: Sendable {
        var waiting: [Int: (position: Int64, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var number = 0
    }

    private let state = Mutex(State())

    func reached(_ position: Int64) {
        let arrived = state.withLock { state in
            let arrived = state.waiting.filter { $0.value.position <= position }
            for number in arrived.keys { state.waiting[number] = nil }
            return arrived.values.map(\.continuation)
        }
        for continuation in arrived { continuation.resume(returning: true) }
    }

    /// False when the time is over first, or the task cancelled.
    /// - Parameter reached: up to where it is now
    func wait(for position: Int64, seconds: Double, reached: @Sendable () -> Int64) async -> Bool {
        if reached() >= position { return true }
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let timer = Task {
            try await Task.sleep(for: .seconds(seconds))
            giveUp(number)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting[number] = (position, continuation) }
                // It may have been reached, and the task cancelled, before anybody knew of this one.
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

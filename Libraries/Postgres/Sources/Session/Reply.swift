internal import Synchronization

/// A value that one thread will give and one task waits for. The first to resolve it wins, be it the giver or the
/// cancellation of the waiting task.
final class Reply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        /// The waiting task, until there is a result.
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    /// - Returns: false if the reply was resolved before
    @discardableResult
    func resolve(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            guard state.result == nil else { return (false, nil as CheckedContinuation<Value, any Error>?) }
            defer { state = State(result: result) }
            return (true, state.waiter)
        }
        waiter?.resume(with: result)
        return isFirst
    }

    /// Whether the reply has a value or its task was cancelled. Then the work is not needed any more.
    var isResolved: Bool { state.withLock { $0.result != nil } }

    /// To be called once.
    func value(onCancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiter = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
            onCancel()
        }
    }
}

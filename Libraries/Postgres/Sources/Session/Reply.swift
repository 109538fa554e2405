internal import Synchronization

/// A value that one thread will give and one task waits for. The first to resolve it wins, be it the giver or the
/// cancellation of the waiting task.
final class Reply<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value, any Error>)
        case resolved(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex(State.pending)

    /// - Returns: false if the reply was resolved before
    @discardableResult
    func resolve(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            switch state {
            case .pending:
                state = .resolved(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .taken
                return (true, continuation)
            case .resolved, .taken: return (false, nil)
            }
        }
        waiter?.resume(with: result)
        return isFirst
    }

    /// Whether the reply has a value or its task was cancelled. Then the work is not needed any more.
    var isResolved: Bool {
        state.withLock { state in
            switch state {
            case .pending, .awaited: false
            case .resolved, .taken: true
            }
        }
    }

    /// To be called once.
    func value(onCancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    guard case .resolved(let result) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
            onCancel()
        }
    }
}

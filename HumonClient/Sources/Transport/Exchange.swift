internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request and its response, which the session's delegate fills and one task reads.
///
/// `@unchecked`: the lock protects the variables. URL session tasks are thread-safe.
final class Exchange: @unchecked Sendable {
    private let task: URLSessionDataTask
    /// Maximum number of unread bytes. More end the exchange: suspending the task would not help, because
    /// swift-corelibs-foundation goes on reading then, and traps.
    private let bufferLimitBytes: Int
    private let overflow: HumonError
    private let lock = NSLock()
    private var head: ResponseHead?
    private var unread = Data()
    /// Set once. The unread bytes come before it.
    private var end: Result<Void, any Error>?
    /// The reader, if it waits, and its condition.
    private var waiting: (isThere: @Sendable (Exchange) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    init(_ task: URLSessionDataTask, bufferLimitBytes: Int, overflow: HumonError) {
        self.task = task
        self.bufferLimitBytes = bufferLimitBytes
        self.overflow = overflow
    }

    // MARK: Reading

    /// Waits for the status and the header fields.
    /// - Throws: `HumonError.connectionFailed`; `CancellationError`
    func response() async throws -> ResponseHead {
        await wait { $0.head != nil }
        return try lock.withLock {
            if let head { return head }
            try end?.get()
            throw HumonError.unusableResponse("it has no status")
        }
    }

    /// All bytes that have arrived since the last call, or `nil` at the end of the body.
    /// - Throws: `HumonError.connectionFailed`; `CancellationError`
    func nextBytes() async throws -> Data? {
        await wait { !$0.unread.isEmpty }
        return try lock.withLock {
            guard unread.isEmpty else {
                defer { unread = Data() }
                return unread
            }
            try end?.get()
            return nil
        }
    }

    /// Ends the exchange and its connection. The reader gets the error.
    func cancel(_ error: any Error = CancellationError()) {
        finish(.failure(error))
        task.cancel()
    }

    /// Waits until the condition holds or the exchange ends. At most one task waits.
    private func wait(_ isThere: @escaping @Sendable (Exchange) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = lock.withLock {
                    if end != nil || isThere(self) { return true }
                    waiting = (isThere, continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    // MARK: Filling

    func receive(_ head: ResponseHead) { resume { self.head = head } }

    func receive(_ data: Data) {
        let isTooMuch = lock.withLock { unread.count + data.count > bufferLimitBytes }
        guard !isTooMuch else { return cancel(overflow) }
        resume { if end == nil { unread.append(data) } }
    }

    func finish(_ result: Result<Void, any Error>) { resume { if end == nil { end = result } } }

    private func resume(after change: () -> Void) {
        let reader = lock.withLock { () -> CheckedContinuation<Void, Never>? in
            change()
            guard let waiting, end != nil || waiting.isThere(self) else { return nil }
            self.waiting = nil
            return waiting.continuation
        }
        reader?.resume()
    }
}

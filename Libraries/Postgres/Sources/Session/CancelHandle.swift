internal import CLibPQ
internal import Dispatch
internal import Foundation

/// `@unchecked`: libpq's cancel object is never changed after it was made, and `PQcancel` may be called from any thread.
final class CancelHandle: @unchecked Sendable {
    private let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit { PQfreeCancel(handle) }

    /// Returns when PostgreSQL has passed the request on.
    private func cancel() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }

    /// `PQcancel` opens a connection and waits, so it must not run on the cooperative pool.
    func cancelOnItsOwnThread() { Thread { [self] in cancel() }.start() }

    /// Blocks the calling thread. False if PostgreSQL has not passed the request on within the time: it may still do so later.
    func cancel(withinSeconds seconds: Double) -> Bool {
        let isPassedOn = DispatchSemaphore(value: 0)
        Thread { [self] in
            cancel()
            isPassedOn.signal()
        }.start()
        return isPassedOn.wait(timeout: .now() + seconds) == .success
    }
}

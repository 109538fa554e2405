internal import Dispatch
internal import Foundation

/// Cancels the running statement of a connection, from any thread.
final class CancelHandle: Sendable {
    private let cancel: PQCancel

    init(_ cancel: consuming PQCancel) { self.cancel = cancel }

    /// `PQcancel` opens a connection and waits, so it must not run on the cooperative pool.
    func cancelOnItsOwnThread() { Thread { [self] in cancel.request() }.start() }

    /// Blocks the calling thread. False if PostgreSQL has not passed the request on within the time: it may still do so later.
    func cancel(withinSeconds seconds: Double) -> Bool {
        let isPassedOn = DispatchSemaphore(value: 0)
        Thread { [self] in
            cancel.request()
            isPassedOn.signal()
        }.start()
        return isPassedOn.wait(timeout: .now() + seconds) == .success
    }
}

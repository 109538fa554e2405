internal import Foundation
internal import Synchronization
internal import UnixSignals

/// Somebody wanted the command to end: with Ctrl-C, or with SIGTERM.
struct Interruption: Error {
    var signal: Int32

    /// Cancels the work at the first signal, so that it cleans up behind it: a private cluster that it started is stopped. A
    /// second signal ends the process at once.
    static func cancelling(_ work: sending @escaping () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let task = Task(operation: work)
        let received = Mutex<Int32?>(nil)
        let notifier = Task {
            for await signal in signals {
                let isSecond = received.withLock { received in
                    defer { received = signal.rawValue }
                    return received != nil
                }
                if isSecond { _exit(Exit.signalled + signal.rawValue) }
                task.cancel()
            }
        }
        defer { notifier.cancel() }
        let result = await task.result
        if let signal = received.withLock({ $0 }) { throw Interruption(signal: signal) }
        try result.get()
    }
}

internal import Foundation
internal import Synchronization
internal import UnixSignals

/// The end of a command by Ctrl-C, by SIGTERM, or with its terminal.
struct Interruption: Error {
    var signal: Int32

    /// Runs the work and cancels it at the first signal, so that it cleans up: it stops a private cluster that it started. A second
    /// signal ends the process immediately.
    /// - Throws: ``Interruption`` after a signal; else the errors of the work
    static func cancelling(_ work: sending @escaping () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
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

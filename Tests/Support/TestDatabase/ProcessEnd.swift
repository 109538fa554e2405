public import Foundation

/// Tests ask the kernel for the end of a process. Foundation learns of it from a socket that the process holds, and a process that was
/// started at the same moment may hold that socket too. Then Foundation hears of the end when both have ended.
extension Process {
    /// The status with which the process ended, or the number of the signal; nil while it runs.
    public var endStatus: Int32? {
        guard isRunning else { return terminationStatus }
        var end = siginfo_t()
        // The process stays a zombie, so that Foundation can wait for it as well.
        if waitid(P_PID, id_t(processIdentifier), &end, WEXITED | WNOHANG | WNOWAIT) == 0 {
            guard end.si_signo != 0 else { return nil }
            #if os(Linux)
                return end._sifields._sigchld.si_status
            #else
                return end.si_status
            #endif
        }
        // Foundation has waited for it just now.
        return isRunning ? nil : terminationStatus
    }

    /// Waits until the process has ended.
    /// - Parameter limit: afterwards the process is killed
    /// - Throws: `TimeoutError` if the process did not end by itself, `CancellationError`
    public func untilEnd(within limit: Duration = .seconds(120), fileID: String = #fileID, line: Int = #line) async throws
        -> Int32
    {
        // Asked once more, the kernel may not know the process any longer, and Foundation may not know its status yet.
        var status: Int32?
        do {
            try await eventually("the end of process \(processIdentifier)", within: limit, fileID: fileID, line: line) {
                status = endStatus
                return status != nil
            }
        } catch {
            if endStatus == nil { kill(processIdentifier, SIGKILL) }
            throw error
        }
        return status ?? -1
    }
}

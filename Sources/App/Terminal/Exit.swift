internal import ArgumentParser
internal import EventStore
internal import Foundation
internal import Telemetry

/// The exit codes of humon. Scripts rely on them. ArgumentParser gives two further ones: 1 if a command failed, and 64 for an unusable
/// command line.
enum Exit {
    static let done: Int32 = 0
    /// The command ran, and its answer is no: differences, violations, no result.
    static let no: Int32 = 2
    /// A setting cannot be used, and no later start can be any different. Source: EX_CONFIG of sysexits.h.
    static let unusableSettings: Int32 = 78
    /// The sum of this and the number of a signal, as in shells: 130 for Ctrl-C, 143 for SIGTERM.
    static let signalled: Int32 = 128

    /// Ends the process without the clean-up of its libraries: OpenSSL's would take away what the thread of a connection still uses.
    static func now(_ code: Int32) -> Never {
        LogSink.standardError.flush()
        fflush(nil)
        _exit(code)
    }
}

/// A command ran, and its answer is no.
struct NegativeResult: Error {
    /// For standard error; `nil` if the printed result already says it.
    var message: String?

    init(_ message: String? = nil) { self.message = message }
}

/// A command or a start failed, for a reason that it says itself: what failed, and what to do.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Humon {
    /// Ends the process with the code of the error.
    static func exit(after error: any Error) -> Never {
        switch error {
        case is OutputClosed: Exit.now(Exit.done)
        case let interruption as Interruption: Exit.now(Exit.signalled + interruption.signal)
        case let answer as NegativeResult:
            if let message = answer.message { LogSink.standardError.write(harmless(message) + "\n") }
            Exit.now(Exit.no)
        case let error:
            let code = exitCode(for: error).rawValue
            let message = [fullMessage(for: error), hint(for: error)].filter { !$0.isEmpty }.joined(separator: "\n")
            // The message may repeat text from the command line.
            let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { harmless(String($0)) }
            let text = message.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
            guard code == Exit.done else {
                LogSink.standardError.write(text)
                Exit.now(error is SettingsError ? Exit.unusableSettings : code)
            }
            // The help, or the version.
            do { try StandardOutput.write(text) } catch { exit(after: error) }
            Exit.now(code)
        }
    }

    /// The command that helps, which the library does not know.
    static func hint(for error: any Error) -> String {
        switch error {
        case ReadModelError.ahead, ReadModelError.missing: "humon projections rebuild --all rebuilds them."
        case ReadModelError.underWay: "humon projections list shows its progress."
        case EventStore.EventLogError.lockHeld: "humon doctor names the session."
        default: ""
        }
    }
}

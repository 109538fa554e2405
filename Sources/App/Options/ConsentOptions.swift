internal import ArgumentParser
internal import Foundation
internal import Telemetry

/// The option of a command that can show first what it would do.
struct TrialOptions: ParsableArguments {
    @Flag(help: "Change nothing; print what the command would do.")
    var dryRun = false
}

/// The options of a command that deletes data, or changes data in a way that cannot be undone.
///
/// Such a command asks the person at the terminal. Without a terminal, it needs `--yes`.
struct ConsentOptions: ParsableArguments {
    @Flag(help: "Do it without a question. Without a terminal the command requires this, else it exits with 2.")
    var yes = false

    /// Returns if the user agrees.
    /// - Parameters:
    ///   - consequence: sentences that say what the command is about to do
    ///   - alternative: a sentence that names another way for the user; empty if no other way exists
    /// - Throws: ``NegativeResult`` if the answer is no, or if neither `--yes` nor a terminal is present; `CancellationError`
    func require(_ consequence: String, alternative: String = "") async throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            let advice = (alternative.isEmpty ? "" : alternative + " ") + "To go on without a terminal, give --yes."
            throw NegativeResult("\(consequence) Nothing was changed. \(advice)")
        }
        guard try await Self.isAnsweredWithYes("\(consequence) Go on?") else { throw NegativeResult("Nothing was changed.") }
    }

    /// The interval at which the command looks for an answer, and for Ctrl-C.
    private static let pauseSeconds = 0.05

    /// Waits for a line. Only `y` and `yes` mean yes.
    /// - Throws: `CancellationError`
    private static func isAnsweredWithYes(_ question: String) async throws -> Bool {
        LogSink.standardError.write(harmless(question) + " [y/N] ")
        while SystemCalls.poll(STDIN_FILENO, events: POLLIN) == 0 { try await Task.sleep(for: .seconds(pauseSeconds)) }
        let answer = (readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased()
        return ["y", "yes"].contains(answer)
    }
}

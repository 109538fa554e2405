internal import Foundation

/// The terminal behind a standard stream.
enum Terminal {
    /// Whether a descriptor is a terminal that obeys escape sequences: `TERM=dumb` says that it does not.
    static func obeysEscapes(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}

/// A question to the person at the terminal.
enum Question {
    /// The interval at which the command looks for an answer, and for Ctrl-C.
    private static let pauseSeconds = 0.05

    /// Whether a person can read the question and answer it.
    static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Waits for a line. Only `y` and `yes` mean yes.
    /// - Throws: `CancellationError`
    static func isAnsweredWithYes(_ question: String) async throws -> Bool {
        FileHandle.standardError.write(Data((harmless(question) + " [y/N] ").utf8))
        while SystemCalls.pollNow(STDIN_FILENO, events: POLLIN) == 0 { try await Task.sleep(for: .seconds(pauseSeconds)) }
        let answer = (readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased()
        return ["y", "yes"].contains(answer)
    }
}

/// When the client repeats a request by itself.
///
/// The client repeats reads, writes with an idempotency key, and idempotent writes. It repeats any other write only if the server certainly
/// did not carry it out.
public struct RetryPolicy: Sendable, Hashable {
    /// Maximum number of attempts, with the first one.
    public var attempts: Int
    /// The longest pause before the second attempt. It doubles with each further attempt.
    public var firstPause: Duration
    /// The longest pause. If the server asks for a longer one, the operation fails at once, and the error names the time.
    public var longestPause: Duration

    /// Four attempts within a few seconds.
    public static let standard = RetryPolicy()
    /// One attempt.
    public static let never = RetryPolicy(attempts: 1)

    public init(attempts: Int = 4, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(8)) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// The pause before the next attempt; `nil` if there is none.
    /// - Parameters:
    ///   - attempt: the number of the attempt that failed, from 1
    ///   - chance: from 0 to 1, so that clients that failed together do not come back together
    func pause(after error: HumonError, attempt: Int, isRepeatable: Bool, chance: Double) -> Duration? {
        guard attempt < attempts, error.mayPass, isRepeatable || error.isUnsent else { return nil }
        let wanted = Duration.seconds(error.problem?.retryAfterSeconds ?? 0)
        guard wanted <= longestPause else { return nil }
        let longest = min(firstPause * (1 << min(attempt - 1, 16)), longestPause)
        return max(longest * (0.5 + chance / 2), wanted)
    }
}

/// Growing pauses between attempts: each is twice as long as the one before, up to a limit.
public struct BackOff: Sendable, Hashable {
    private let firstSeconds: Double
    private let longestSeconds: Double
    private var nextSeconds: Double

    public init(firstSeconds: Double, longestSeconds: Double) {
        self.firstSeconds = firstSeconds
        self.longestSeconds = longestSeconds
        nextSeconds = firstSeconds
    }

    /// Returns the pause before the next attempt.
    public mutating func next() -> Duration {
        defer { nextSeconds = min(nextSeconds * 2, longestSeconds) }
        return .seconds(nextSeconds)
    }

    /// Begins again with the first pause, after an attempt succeeded.
    public mutating func reset() { nextSeconds = firstSeconds }
}

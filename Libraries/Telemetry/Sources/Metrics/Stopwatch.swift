internal import Foundation

/// Measures the time since its creation.
public struct Stopwatch: Sendable {
    private let start: Int

    public init() { start = Self.now }

    public var nanoseconds: Int { Self.now - start }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
}

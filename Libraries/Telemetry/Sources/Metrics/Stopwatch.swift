internal import Dispatch

/// Measures the time since its creation.
public struct Stopwatch: Sendable {
    private let start: Int

    public init() { start = Self.now }

    public var nanoseconds: Int { Self.now - start }

    private static var now: Int { Int(DispatchTime.now().uptimeNanoseconds) }
}

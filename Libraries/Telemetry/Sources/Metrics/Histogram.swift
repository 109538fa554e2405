internal import Dispatch

/// Counts values in buckets with fixed bounds. To record a value takes two additions to atomics.
public final class Histogram: Sendable {
    /// The bounds for durations: from a read of memory to the timeout of a statement.
    private static let nanoseconds = [
        10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    private let bounds: [Int]
    private let perUnit: Double
    /// One number for each bound, one for values above all bounds, and the sum.
    private let counter: Counter

    /// - Parameters:
    ///   - bounds: ascending
    ///   - perUnit: number of recorded units in one exported unit, such as 1e9 for nanoseconds that are exported as seconds
    public init(bounds: [Int], perUnit: Double = 1) {
        self.bounds = bounds
        self.perUnit = perUnit
        counter = Counter(count: bounds.count + 2)
    }

    /// A histogram that records nanoseconds and exports seconds.
    public static func seconds() -> Histogram { Histogram(bounds: nanoseconds, perUnit: 1e9) }

    public func record(_ value: Int) {
        var index = 0
        // The search begins at the lowest bound, because almost all values are small.
        while index < bounds.count, bounds[index] < value { index += 1 }
        counter.add(at: index)
        counter.add(value, at: bounds.count + 1)
    }

    public var snapshot: HistogramSnapshot {
        HistogramSnapshot(
            bounds: bounds.map { Double($0) / perUnit }, counts: (0...bounds.count).map { counter[$0] },
            sum: Double(counter[bounds.count + 1]) / perUnit)
    }
}

/// The values that a ``Histogram`` has recorded so far.
public struct HistogramSnapshot: Sendable, Hashable {
    public var bounds: [Double]
    /// Number of values in each bucket: above the bound before, up to and including its own bound. The last bucket has no upper
    /// bound.
    public var counts: [Int]
    public var sum: Double
}

/// Measures the time since its creation.
public struct Stopwatch: Sendable {
    private let start: Int

    public init() { start = Self.now }

    public var nanoseconds: Int { Self.now - start }

    private static var now: Int { Int(DispatchTime.now().uptimeNanoseconds) }
}

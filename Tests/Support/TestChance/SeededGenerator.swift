private import Foundation

/// A generator that gives the same numbers in every run. Source: Steele, Lea and Flood, *Fast Splittable Pseudorandom Number
/// Generators*, SplitMix64.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed that `scripts/test` prints beside a function that failed: `TEST_SEED`, or 1.
    public static let seedOfRun = ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) } ?? 1

    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// A separate generator for each part of a run, so that one part's draws do not shift another's.
    public init(seed: UInt64, _ parts: Int...) {
        self.init(seed: seed)
        for part in parts { state = next() ^ UInt64(truncatingIfNeeded: part) }
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    public mutating func happens(inPercent percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

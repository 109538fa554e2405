/// The moments at which the requests of a route are due, in nanoseconds since the start of the run.
///
/// The spacing is constant. Each moment is computed from the number of its request, so that rounding errors do not add up.
struct Schedule: Sendable {
    static let nanosecondsPerSecond = 1e9

    /// When the first request is due.
    var first: Int64
    var perSecond: Double

    /// - Parameter number: The number of a request, from 0.
    func due(_ number: Int) -> Int64 { first + Int64(Double(number) * Self.nanosecondsPerSecond / perSecond) }

    /// The number of requests that are due before a moment.
    func count(before end: Int64) -> Int {
        guard end > first else { return 0 }
        var count = Int(Double(end - first) * perSecond / Self.nanosecondsPerSecond)
        // The estimate may be off by one in both directions, because `due` rounds down.
        while count > 0, due(count - 1) >= end { count -= 1 }
        while due(count) < end { count += 1 }
        return count
    }
}

/// The measured part of a run: windows of equal length after the warm-up.
struct Windows: Sendable {
    var warmUp: Int64
    var length: Int64
    var count: Int

    var end: Int64 { warmUp + length * Int64(count) }

    /// The window of a moment; nil in the warm-up and after the end.
    func index(at moment: Int64) -> Int? {
        guard moment >= warmUp, moment < end else { return nil }
        return Int((moment - warmUp) / length)
    }
}

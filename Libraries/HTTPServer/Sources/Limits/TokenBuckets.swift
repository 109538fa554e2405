/// A bucket of tokens for each of many callers, in a fixed amount of memory.
///
/// A bucket is one number: the time at which it will be full again. That time determines the number of tokens (the generic cell
/// rate algorithm). A key leads to eight places, one of which has the caller's bucket. If all are taken, the fullest bucket is
/// evicted: its caller's next bucket is full, which is close to the evicted one.
struct TokenBuckets {
    static let placesPerKey = 8

    private let windowNanoseconds: Int64
    private let nanosecondsPerToken: Int64
    /// The times are nanoseconds on the clock of the caller of `take`. A full bucket has a time in the past.
    private var buckets: [(key: UInt64, fullAt: Int64)]

    /// - Parameters:
    ///   - limit: the number of tokens of a full bucket
    ///   - windowSeconds: the time in which an empty bucket fills
    ///   - groups: the number of groups of places; a power of two
    init(limit: Int, windowSeconds: Int, groups: Int) {
        precondition(groups > 0 && groups & (groups - 1) == 0 && limit > 0)
        windowNanoseconds = Int64(windowSeconds) * 1_000_000_000
        nanosecondsPerToken = windowNanoseconds / Int64(limit)
        buckets = Array(repeating: (key: 0, fullAt: .min), count: groups * Self.placesPerKey)
    }

    /// Takes a token from the caller's bucket, unless it is empty.
    /// - Parameter key: a hash of the caller, uniformly distributed
    /// - Returns: the seconds until the next token; `nil` if one was taken
    mutating func take(_ key: UInt64, at now: Int64) -> Int? {
        let place = place(of: key)
        let (fullAt, isGranted) = taking(from: max(buckets[place].fullAt, now), at: now)
        buckets[place].fullAt = fullAt
        return isGranted ? nil : wait(fullAt: fullAt, at: now)
    }

    /// Looks into a caller's bucket, and takes nothing.
    /// - Returns: the seconds until the next token; `nil` if one is left
    func wait(of key: UInt64, at now: Int64) -> Int? {
        let fullAt = places(of: key).first { buckets[$0].key == key }.map { max(buckets[$0].fullAt, now) } ?? now
        return taking(from: fullAt, at: now).isGranted ? nil : wait(fullAt: fullAt, at: now)
    }

    /// Rounded up.
    private func wait(fullAt: Int64, at now: Int64) -> Int {
        let nanoseconds = fullAt - now + nanosecondsPerToken - windowNanoseconds
        return max(1, Int((nanoseconds + 999_999_999) / 1_000_000_000))
    }

    private func taking(from fullAt: Int64, at now: Int64) -> (fullAt: Int64, isGranted: Bool) {
        let taken = fullAt + nanosecondsPerToken
        return taken - now <= windowNanoseconds ? (taken, true) : (fullAt, false)
    }

    private func places(of key: UInt64) -> Range<Int> {
        let first = Int(truncatingIfNeeded: key >> 32) & (buckets.count / Self.placesPerKey - 1)
        return first * Self.placesPerKey..<(first + 1) * Self.placesPerKey
    }

    /// The place of the key's bucket, after evicting another one if necessary.
    private mutating func place(of key: UInt64) -> Int {
        let places = places(of: key)
        var fullest = places.lowerBound
        for place in places {
            if buckets[place].key == key { return place }
            if buckets[place].fullAt < buckets[fullest].fullAt { fullest = place }
        }
        buckets[fullest] = (key, .min)
        return fullest
    }
}

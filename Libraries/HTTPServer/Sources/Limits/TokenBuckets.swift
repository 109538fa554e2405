/// A bucket of tokens for each of many callers, in a fixed amount of memory.
///
/// A bucket is one number: the time at which it will be full again. That time determines the number of tokens (the generic cell
/// rate algorithm). A key leads to eight places, one of which has the caller's bucket. If all are taken, the fullest bucket is
/// evicted: its caller's next bucket is full, which is close to the evicted one.
struct TokenBuckets {
    private struct Bucket {
        var key: UInt64
        /// Nanoseconds on the clock of the caller of `take`. A full bucket has a time in the past.
        var fullAt: Int64
    }

    static let placesPerKey = 8

    private let policy: RatePolicy
    private let windowNanoseconds: Int64
    private let nanosecondsPerToken: Int64
    private var buckets: [Bucket]

    /// - Parameter groups: the number of groups of places; a power of two
    init(_ policy: RatePolicy, groups: Int) {
        precondition(groups > 0 && groups & (groups - 1) == 0 && policy.limit > 0)
        self.policy = policy
        windowNanoseconds = Int64(policy.windowSeconds) * 1_000_000_000
        nanosecondsPerToken = windowNanoseconds / Int64(policy.limit)
        buckets = Array(repeating: Bucket(key: 0, fullAt: .min), count: groups * Self.placesPerKey)
    }

    /// Takes a token from the caller's bucket, unless it is empty.
    /// - Parameter key: a hash of the caller, uniformly distributed
    mutating func take(_ key: UInt64, at now: Int64) -> RateAllowance {
        let place = place(of: key)
        let (fullAt, isGranted) = taking(from: max(buckets[place].fullAt, now), at: now)
        buckets[place].fullAt = fullAt
        return allowance(fullAt: fullAt, isGranted: isGranted, at: now)
    }

    /// The allowance of a caller, from whose bucket nothing is taken. It is granted if a token is left.
    func allowance(of key: UInt64, at now: Int64) -> RateAllowance {
        let fullAt = places(of: key).first { buckets[$0].key == key }.map { max(buckets[$0].fullAt, now) } ?? now
        return allowance(fullAt: fullAt, isGranted: taking(from: fullAt, at: now).isGranted, at: now)
    }

    private func allowance(fullAt: Int64, isGranted: Bool, at now: Int64) -> RateAllowance {
        let missing = fullAt - now
        let left = (windowNanoseconds - missing) / nanosecondsPerToken
        return RateAllowance(
            policy: policy, isGranted: isGranted, remaining: Int(left), resetSeconds: Self.seconds(missing),
            retryAfterSeconds: left > 0 ? 0 : max(1, Self.seconds(missing + nanosecondsPerToken - windowNanoseconds)))
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
        buckets[fullest] = Bucket(key: key, fullAt: .min)
        return fullest
    }

    /// Rounded up.
    private static func seconds(_ nanoseconds: Int64) -> Int { Int((nanoseconds + 999_999_999) / 1_000_000_000) }
}

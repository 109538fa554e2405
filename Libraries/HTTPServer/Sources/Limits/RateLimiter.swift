internal import Synchronization

/// Limits the number of a caller's requests in each minute or day. Each process counts for itself, and from anew after a restart.
public final class RateLimiter: Sendable {
    /// A part of the buckets. The lock is held for a few dozen instructions.
    private final class Shard: Sendable {
        let buckets: Mutex<TokenBuckets>

        init(_ policy: RatePolicy) { buckets = Mutex(TokenBuckets(policy, groups: RateLimiter.groupsPerShard)) }
    }

    /// 65,536 buckets of 16 bytes, for any number of callers.
    private static let shardCount = 64
    fileprivate static let groupsPerShard = 128

    private let limit: Int
    private let shards: [Shard]
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - limit: 0 for no limit
    ///   - now: the clock
    public convenience init(
        _ name: String, perMinute limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(name, limit, windowSeconds: 60, now)
    }

    public convenience init(
        _ name: String, perDay limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(name, limit, windowSeconds: 86_400, now)
    }

    private init(
        _ name: String, _ limit: Int, windowSeconds: Int, _ now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.limit = limit
        self.now = now
        start = now()
        let policy = RatePolicy(name: name, limit: max(1, limit), windowSeconds: windowSeconds)
        shards = (0..<(limit > 0 ? Self.shardCount : 0)).map { _ in Shard(policy) }
    }

    /// Whether the limit is not 0.
    public var hasLimit: Bool { limit > 0 }

    /// Counts one request of a caller.
    /// - Returns: `nil` if there is no limit
    /// - Throws: ``HTTPError/tooManyRequests(_:)`` if the caller has none left
    public func take(_ caller: some Hashable) throws(HTTPError) -> RateAllowance? {
        try use(caller) { $0.take($1, at: $2) }
    }

    /// Counts nothing, and refuses a caller that has no request left.
    /// - Throws: ``HTTPError/tooManyRequests(_:)``
    public func check(_ caller: some Hashable) throws(HTTPError) {
        _ = try use(caller) { $0.allowance(of: $1, at: $2) }
    }

    private func use(
        _ caller: some Hashable, _ body: (inout TokenBuckets, _ key: UInt64, _ nanoseconds: Int64) -> RateAllowance
    ) throws(HTTPError) -> RateAllowance? {
        guard limit > 0 else { return nil }
        // Hasher is seeded for each process, so that a client cannot choose a key that evicts another caller's.
        var hasher = Hasher()
        hasher.combine(caller)
        let key = UInt64(bitPattern: Int64(hasher.finalize()))
        let (seconds, attoseconds) = (now() - start).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let shard = shards[Int(truncatingIfNeeded: key) & (Self.shardCount - 1)]
        let allowance = shard.buckets.withLock { body(&$0, key, nanoseconds) }
        guard allowance.isGranted else { throw .tooManyRequests(allowance) }
        return allowance
    }
}

internal import Synchronization

/// Limits the number of a caller's requests in each minute or day. Each process counts for itself, and from anew after a restart.
public final class RateLimiter: Sendable {
    /// A part of the buckets. The lock is held for a few dozen instructions.
    private final class Shard: Sendable {
        let buckets: Mutex<TokenBuckets>

        init(limit: Int, windowSeconds: Int) {
            buckets = Mutex(TokenBuckets(limit: limit, windowSeconds: windowSeconds, groups: RateLimiter.groupsPerShard))
        }
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
        perMinute limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(limit, windowSeconds: 60, now)
    }

    public convenience init(
        perDay limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.init(limit, windowSeconds: 86_400, now)
    }

    private init(_ limit: Int, windowSeconds: Int, _ now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.limit = limit
        self.now = now
        start = now()
        shards = (0..<(limit > 0 ? Self.shardCount : 0)).map { _ in Shard(limit: limit, windowSeconds: windowSeconds) }
    }

    /// Counts one request of a caller.
    /// - Throws: ``HTTPError/tooManyRequests(retryAfterSeconds:)`` if the caller has none left
    public func take(_ caller: some Hashable) throws(HTTPError) { try use(caller) { $0.take($1, at: $2) } }

    /// Counts nothing, and refuses a caller that has no request left.
    /// - Throws: ``HTTPError/tooManyRequests(retryAfterSeconds:)``
    public func check(_ caller: some Hashable) throws(HTTPError) { try use(caller) { $0.wait(of: $1, at: $2) } }

    private func use(
        _ caller: some Hashable, _ body: (inout TokenBuckets, _ key: UInt64, _ nanoseconds: Int64) -> Int?
    ) throws(HTTPError) {
        guard limit > 0 else { return }
        // Hasher is seeded for each process, so that a client cannot choose a key that evicts another caller's.
        var hasher = Hasher()
        hasher.combine(caller)
        let key = UInt64(bitPattern: Int64(hasher.finalize()))
        let (wholeSeconds, attoseconds) = (now() - start).components
        let nanoseconds = wholeSeconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let shard = shards[Int(truncatingIfNeeded: key) & (Self.shardCount - 1)]
        let seconds = shard.buckets.withLock { body(&$0, key, nanoseconds) }
        if let seconds { throw .tooManyRequests(retryAfterSeconds: seconds) }
    }
}

internal import HTTPTypes

/// The requests that one caller may send in each window of time, in one burst or spread.
public struct RatePolicy: Sendable, Hashable {
    /// The name of the policy in header fields.
    public var name: String
    public var limit: Int
    public var windowSeconds: Int
}

/// The requests that a caller has left after the one that was just counted.
public struct RateAllowance: Sendable, Hashable {
    public var policy: RatePolicy
    public var isGranted: Bool
    public var remaining: Int
    /// Seconds until the whole policy is available again.
    public var resetSeconds: Int
    /// Seconds until one more request is allowed; 0 while some remain.
    public var retryAfterSeconds: Int
}

extension HTTPFields {
    /// Adds `RateLimit` and `RateLimit-Policy`. Source: IETF draft-ietf-httpapi-ratelimit-headers-10.
    mutating func addRateLimitHeaders(_ allowance: RateAllowance) {
        let policy = allowance.policy
        self[.rateLimitPolicy] = "\"\(policy.name)\";q=\(policy.limit);w=\(policy.windowSeconds)"
        self[.rateLimit] = "\"\(policy.name)\";r=\(allowance.remaining);t=\(allowance.resetSeconds)"
    }
}

extension Response {
    /// - Parameter allowance: `nil` for a caller without a limit
    public mutating func addRateLimitHeaders(_ allowance: RateAllowance?) {
        if let allowance { headers.addRateLimitHeaders(allowance) }
    }
}

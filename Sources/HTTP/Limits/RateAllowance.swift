internal import HTTPTypes

/// What is allowed to one caller: so many a minute, all at once or spread.
struct RatePolicy: Sendable, Hashable {
    static let windowSeconds = 60

    /// As the headers call it.
    var name: String
    var perMinute: Int
}

/// What is left to a caller after it has asked once more.
struct RateAllowance: Sendable, Hashable {
    var policy: RatePolicy
    var isGranted: Bool
    var remaining: Int
    /// Until all is allowed again.
    var resetSeconds: Int
    /// Until one more is; 0 while some remain.
    var retryAfterSeconds: Int
}

extension Answer {
    /// Source: IETF draft-ietf-httpapi-ratelimit-headers-10.
    mutating func tell(_ allowance: RateAllowance?) {
        guard let allowance else { return }
        let policy = allowance.policy
        headers[.rateLimitPolicy] = "\"\(policy.name)\";q=\(policy.perMinute);w=\(RatePolicy.windowSeconds)"
        headers[.rateLimit] = "\"\(policy.name)\";r=\(allowance.remaining);t=\(allowance.resetSeconds)"
    }
}

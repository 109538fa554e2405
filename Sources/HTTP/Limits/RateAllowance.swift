internal import HTTPTypes
internal import Hummingbird

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

extension Response {
    /// Source: IETF draft-ietf-httpapi-ratelimit-headers-10.
    func telling(_ allowance: RateAllowance?) -> Response {
        guard let allowance else { return self }
        var response = self
        let policy = allowance.policy
        response.headers[.rateLimitPolicy] = "\"\(policy.name)\";q=\(policy.perMinute);w=\(RatePolicy.windowSeconds)"
        response.headers[.rateLimit] = "\"\(policy.name)\";r=\(allowance.remaining);t=\(allowance.resetSeconds)"
        return response
    }
}

internal import HTTPTypes

/// Maximum numbers of open streams of a server.
public struct StreamLimits: Sendable, Hashable {
    /// Of all clients; 0 for no streams at all.
    public var total: Int
    /// Of one client address, or of one /64 in IPv6; 0 for no limit. Clients without a known address have no such limit.
    public var perAddress: Int
    /// Of one user, if the route names the users of its streams; 0 for no limit.
    public var perUser: Int
    /// Streams that one client address may open in a minute; 0 for no limit.
    public var openingsPerMinute: Int

    public init(total: Int = 1_000, perAddress: Int = 0, perUser: Int = 0, openingsPerMinute: Int = 0) {
        self.total = total
        self.perAddress = perAddress
        self.perUser = perUser
        self.openingsPerMinute = openingsPerMinute
    }
}

/// The client of a stream, as the limits count it.
struct StreamClient: Sendable, Hashable {
    /// The prefix of one household or machine; `nil` if it is unknown.
    var address: NetworkAddress?
    /// `nil` if the route does not name it.
    var user: String?
}

extension HTTPError {
    /// Seconds after which a client with too many streams may try again.
    private static let streamRetrySeconds = 10

    /// 429: the address or the user of the client has as many open streams as it may.
    static let tooManyStreams = HTTPError(
        .tooManyRequests, "Too Many Requests", headers: [.retryAfter: String(streamRetrySeconds)])
}

public import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Hashing

/// The bearer token of the operators' address (RFC 6750). It keeps a SHA-256 digest only, and compares digests in constant time.
public struct AdminToken: Sendable, Equatable, Redacted {
    private let digest: SHA256.Digest

    public init(_ token: String) { digest = SHA256.hash(token.utf8) }

    public static func == (left: AdminToken, right: AdminToken) -> Bool { left.digest == right.digest }

    /// Whether a request carries this token in `Authorization: Bearer`.
    func isCarried(by request: Request) -> Bool { request.bearerToken.map(AdminToken.init) == self }
}

/// Refuses requests without the operators' token.
struct RequiredAdminToken: Middleware {
    /// The paths of probes, which have no token. Their responses name a state only.
    private static let openPaths: Set = ["/health/live", "/health/ready"]

    /// `nil` requires none.
    let token: AdminToken?

    func prepare(_ request: inout Request, _ context: RequestContext) throws(HTTPError) -> Response? {
        guard let token, !Self.openPaths.contains(String(request.path)) else { return nil }
        guard token.isCarried(by: request) else {
            throw HTTPError(.unauthorized, "Unauthorized", headers: [.wwwAuthenticate: "Bearer"])
        }
        return nil
    }
}

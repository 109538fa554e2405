internal import HTTPServer
internal import HTTPTypes

/// Refuses requests without the operators' token in `Authorization: Bearer` (RFC 6750).
struct RequiredAdminToken: Middleware {
    /// The paths of probes, which have no token. Their responses name a state only.
    private static let openPaths: Set = ["/health/live", "/health/ready"]

    /// `nil` requires none.
    let token: SharedSecret?

    func prepare(_ request: inout Request, _ context: RequestContext) throws(HTTPError) -> Response? {
        guard let token, !Self.openPaths.contains(String(request.path)) else { return nil }
        guard let sent = request.bearerToken, token.accepts(sent) else {
            throw HTTPError(.unauthorized, "Unauthorized", headers: [.wwwAuthenticate: "Bearer"])
        }
        return nil
    }
}

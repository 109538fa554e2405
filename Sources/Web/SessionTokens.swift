internal import HTTPServer
internal import HTTPTypes
internal import Users

/// Gives the API the token of a session as if the client had sent it in a header, if the request comes from the page itself. Removes all
/// cookies, which the API does not know.
struct SessionTokens: Middleware {
    let origins: WebOrigins
    /// The names under which the API takes a token. A token in a header takes precedence over the session.
    let tokenHeaders: [HTTPField.Name]

    private static let prefix = "/v1/"

    func prepare(_ request: inout Request, _ context: RequestContext) -> Response? {
        // Most requests have no cookie.
        guard request.headers.contains(.cookie), request.path.utf8.starts(with: Self.prefix.utf8) else { return nil }
        defer { request.head.headerFields[.cookie] = nil }
        guard let header = tokenHeaders.first, !tokenHeaders.contains(where: request.headers.contains),
            let token = SessionCookie.token(in: request, context.sender(of: request).scheme), origins.isFromPage(request, context)
        else { return nil }
        request.head.headerFields[header] = token.secret
        return nil
    }
}

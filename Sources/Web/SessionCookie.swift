internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Users

/// The cookie that holds the token of a visitor's device. Scripts cannot read it, and browsers send it to this server only.
enum SessionCookie {
    /// A browser keeps a cookie for 400 days at most. Source: RFC 6265bis, section 5.5.
    private static let maximumAgeSeconds = 400 * 86_400

    /// The prefix makes browsers refuse the cookie from subdomains and without TLS. On plain HTTP they would refuse it from this server
    /// too. Source: RFC 6265bis, section 4.1.3.
    private static func name(_ scheme: Scheme) -> String {
        switch scheme {
        case .https: "__Host-humon"
        case .http: "humon"
        }
    }

    /// The value of `Set-Cookie` that begins a session.
    static func value(_ token: DeviceToken, _ scheme: Scheme) -> String {
        "\(name(scheme))=\(token.secret); Max-Age=\(maximumAgeSeconds); \(attributes(scheme))"
    }

    /// The value of `Set-Cookie` that ends a session.
    static func removal(_ scheme: Scheme) -> String { "\(name(scheme))=; Max-Age=0; \(attributes(scheme))" }

    private static func attributes(_ scheme: Scheme) -> String {
        "Path=/; HttpOnly; SameSite=Strict" + (scheme == .https ? "; Secure" : "")
    }

    /// The token in a request's cookies; `nil` without one.
    static func token(in request: Request, _ scheme: Scheme) -> DeviceToken? {
        guard let header = request.headers.value(of: .cookie) else { return nil }
        let prefix = name(scheme) + "="
        // Two cookies of one name: the request is not as this server would have it.
        let values = header.parts(separatedBy: ";").map(\.trimmingSpaces).filter { $0.utf8.starts(with: prefix.utf8) }
        guard let value = values.first, values.count == 1 else { return nil }
        let token = DeviceToken(secret: String(value.dropFirst(prefix.count)))
        return token.isWellFormed && token.secret.utf8.count <= DeviceToken.lengthLimit ? token : nil
    }
}

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

internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Users

/// The cookie that holds the token of a visitor's device, and the day on which the browser got it: `humon=TOKEN.20786`, in days since
/// 1970. Scripts cannot read it, and browsers send it to this server only.
struct SessionCookie {
    let token: DeviceToken
    /// `nil` for a cookie without a day.
    private let day: Int64?

    /// A browser keeps a cookie for 400 days at most. Source: RFC 6265bis, section 5.5.
    private static let maximumAgeSeconds = 400 * 86_400
    /// A cookie is renewed when it is older: a visitor of every year keeps the session, and few responses have a cookie.
    private static let renewalDays: Int64 = 7

    /// The prefix makes browsers refuse the cookie from subdomains and without TLS. On plain HTTP they would refuse it from this server
    /// too. Source: RFC 6265bis, section 4.1.3.
    private static func name(_ scheme: Scheme) -> String {
        switch scheme {
        case .https: "__Host-humon"
        case .http: "humon"
        }
    }

    /// The value of `Set-Cookie` that begins a session, or goes on with it.
    static func value(_ token: DeviceToken, _ scheme: Scheme, at now: Timestamp) -> String {
        "\(name(scheme))=\(token.secret).\(day(now)); Max-Age=\(maximumAgeSeconds); \(attributes(scheme))"
    }

    private static func day(_ time: Timestamp) -> Int64 { time.milliseconds / 86_400_000 }

    /// Whether the browser should get the cookie again. A day of the future comes from another clock.
    func needsRenewal(at now: Timestamp) -> Bool {
        day.map { !(0...Self.renewalDays).contains(Self.day(now) - $0) } ?? true
    }

    /// The value of `Set-Cookie` that ends a session.
    static func removal(_ scheme: Scheme) -> String { "\(name(scheme))=; Max-Age=0; \(attributes(scheme))" }

    private static func attributes(_ scheme: Scheme) -> String {
        "Path=/; HttpOnly; SameSite=Strict" + (scheme == .https ? "; Secure" : "")
    }

    /// The cookie of a request; `nil` without one.
    init?(_ request: Request, _ scheme: Scheme) {
        guard let header = request.headers.value(of: .cookie) else { return nil }
        let prefix = Self.name(scheme) + "="
        // Two cookies of one name: the request is not as this server would have it.
        let values = header.parts(separatedBy: ";").map(\.trimmingSpaces).filter { $0.utf8.starts(with: prefix.utf8) }
        guard let value = values.first, values.count == 1 else { return nil }
        let parts = value.dropFirst(prefix.count).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        token = DeviceToken(secret: String(parts[0]))
        guard token.isWellFormed, token.secret.utf8.count <= DeviceToken.lengthLimit else { return nil }
        // A number of days that an Int32 holds, so that no difference of two overflows.
        day = parts.count == 2 ? Int32(parts[1]).map(Int64.init) : nil
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
            let cookie = SessionCookie(request, context.sender(of: request).scheme), origins.isFromPage(request, context)
        else { return nil }
        request.head.headerFields[header] = cookie.token.secret
        return nil
    }
}

internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import Users

/// Sessions: the map page signs a device up without the secret of the app, which a page cannot keep.
struct SessionRoutes: Sendable {
    private let users: UsersModule
    private let origins: WebOrigins
    private let now: @Sendable () -> Timestamp
    private let sessions: RateLimiter
    private let allSessions: RateLimiter
    private let unknownTokens: RateLimiter?
    private let dailySignUps: RateLimiter?
    private let takeReturn: @Sendable (NetworkAddress?) throws -> Void

    /// A nonce of the page: 128 random bits.
    private static let nonceDigits = 32

    init(
        _ settings: MapPage.Settings, users: UsersModule, unknownTokens: RateLimiter?, dailySignUps: RateLimiter?,
        takeReturn: @escaping @Sendable (NetworkAddress?) throws -> Void
    ) {
        (self.unknownTokens, self.dailySignUps, self.takeReturn) = (unknownTokens, dailySignUps, takeReturn)
        self.users = users
        (origins, now) = (settings.origins, settings.now)
        sessions = RateLimiter(perMinute: settings.sessionsPerMinute)
        allSessions = RateLimiter(perMinute: settings.allSessionsPerMinute)
    }

    var routes: [Route] {
        [
            Route(.get, "/session", "getSession", getSession),
            Route(.post, "/session", "createSession", limit: .authenticating, createSession),
            Route(.delete, "/session", "deleteSession", deleteSession),
            Route(.post, "/session/return", "returnSession", limit: .authenticating, returnSession),
        ]
    }

    /// Responds with the user of the session, `{"id":null}` without one, `{"id":null,"moved":7}` if user 7 moved to another browser.
    /// Renews an old cookie, and removes one whose token is dead: the API would refuse reads with it.
    private func getSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        response(try await session(request, context))
    }

    private func response(_ session: Session) -> Response {
        let (sender, cookie, user, moved) = session
        let body: JSON = if let moved { ["id": .null, "moved": moved.json] } else { ["id": user?.json ?? .null] }
        var response = Response(json: body)
        let now = now()
        if let cookie, user == nil || cookie.needsRenewal(at: now) {
            response.headers[.setCookie] =
                user == nil ? SessionCookie.removal(sender.scheme) : SessionCookie.value(cookie.token, sender.scheme, at: now)
        }
        return response
    }

    /// Signs a new device up, unless the session has a user already, or had one who moved: then it responds as `getSession` does.
    private func createSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let session = try await session(request, context)
        guard session.user == nil, session.moved == nil else { return response(session) }
        let subscriber = session.sender.address?.subscriber
        try sessions.take(subscriber)
        try allSessions.take("")
        try dailySignUps?.take(subscriber)
        let (user, token, position) = try await users.signUp(with: nil, context: request.commandContext(context))
        return await begun(user, token, at: position, session.sender)
    }

    /// Makes the browser the user of a pass. Without `user` it only tells who that is, and which user the browser would leave.
    ///
    /// The token derives from the pass and the page's nonce: the same request again, after a lost response, gets the same cookie.
    private func returnSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (sender, cookie, left, _) = try await session(request, context)
        try takeReturn(sender.address?.subscriber)
        let fields = try? JSON(utf8: request.body.readableBytesView)
        guard case .string(let secret)? = fields?["pass"], secret.utf8.count <= DeviceToken.lengthLimit,
            case .string(let nonce)? = fields?["nonce"], nonce.isHexadecimal(digits: Self.nonceDigits)
        else { throw UserRejection.unknownPass }
        let pass = PassSecret(typed: secret)
        let token = try await users.token(for: pass, nonce: nonce)
        let user = try await users.user(with: pass, as: token).json
        guard let agreed = fields?["user"] else { return Response(json: ["id": user, "leaves": left?.json ?? .null]) }
        guard agreed == user else { throw UserRejection.unknownPass }
        let (id, position) = try await users.comeBack(with: pass, as: token, context: request.commandContext(context))
        // No browser has this token any more.
        if let cookie, let left, left != id { _ = try await users.revoke(cookie.token, context: request.commandContext(context)) }
        return await begun(id, token, at: position, sender)
    }

    private func begun(_ user: UserID, _ token: DeviceToken, at position: Int64, _ sender: Sender) async -> Response {
        var response = Response(json: ["id": user.json])
        response.headers[.setCookie] = SessionCookie.value(token, sender.scheme, at: now())
        response.headers[.init(literal: "humon-position")] = try? await users.cursor(at: position)?.description
        return response
    }

    /// Revokes the token of the session and makes the browser forget it. The user stays, without a token.
    private func deleteSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (sender, cookie, user, _) = try await session(request, context)
        if let cookie, user != nil { _ = try await users.revoke(cookie.token, context: request.commandContext(context)) }
        return Response(status: .noContent, headers: [.setCookie: SessionCookie.removal(sender.scheme)])
    }

    /// The cookie of a session and its user, or the user who moved.
    private typealias Session = (sender: Sender, cookie: SessionCookie?, user: UserID?, moved: UserID?)

    /// Counts an unknown token, as the API does.
    /// - Throws: 403 for a request that does not come from the page itself, 429, `PostgresError`
    private func session(_ request: Request, _ context: RequestContext) async throws -> Session {
        guard origins.isFromPage(request, context) else {
            throw HTTPError(.forbidden, "A session is for the map page only, at an address of HUMON_WEB_ORIGINS")
        }
        let sender = context.sender(of: request)
        guard let cookie = SessionCookie(request, sender.scheme) else { return (sender, nil, nil, nil) }
        try unknownTokens?.check(sender.address?.subscriber)
        if let user = try await users.user(of: cookie.token) { return (sender, cookie, user, nil) }
        _ = try? unknownTokens?.take(sender.address?.subscriber)
        return (sender, cookie, nil, try await users.movedUser(from: cookie.token))
    }
}

extension UserID {
    fileprivate var json: JSON { JSON(rawValue) }
}

extension Request {
    fileprivate func commandContext(_ context: RequestContext) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self))
    }
}

internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
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

    init(_ settings: MapPage.Settings, users: UsersModule, unknownTokens: RateLimiter?, dailySignUps: RateLimiter?) {
        (self.unknownTokens, self.dailySignUps) = (unknownTokens, dailySignUps)
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
        ]
    }

    /// Responds with the user of the session, `{"id":null}` without one. Renews an old cookie, and removes one whose token is dead: the API
    /// would refuse reads with it.
    private func getSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (sender, cookie, user) = try await session(request, context)
        var response = Response(json: ["id": user.map { JSON($0.rawValue) } ?? .null])
        let now = now()
        if let cookie, user == nil || cookie.needsRenewal(at: now) {
            response.headers[.setCookie] =
                user == nil ? SessionCookie.removal(sender.scheme) : SessionCookie.value(cookie.token, sender.scheme, at: now)
        }
        return response
    }

    /// Signs a new device up, unless the session has a user already: then it responds as `getSession` does.
    private func createSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (sender, _, known) = try await session(request, context)
        if known != nil { return try await getSession(request, context) }
        try sessions.take(sender.address?.subscriber)
        try allSessions.take("")
        try dailySignUps?.take(sender.address?.subscriber)
        let (user, token, position) = try await users.signUp(with: nil, context: request.commandContext(context))
        var response = Response(json: ["id": JSON(user.rawValue)])
        response.headers[.setCookie] = SessionCookie.value(token, sender.scheme, at: now())
        response.headers[.init(literal: "humon-position")] = try? await users.cursor(at: position)?.description
        return response
    }

    /// Revokes the token of the session and makes the browser forget it. The user stays, without a token.
    private func deleteSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (sender, cookie, user) = try await session(request, context)
        if let cookie, user != nil { _ = try await users.revoke(cookie.token, context: request.commandContext(context)) }
        return Response(status: .noContent, headers: [.setCookie: SessionCookie.removal(sender.scheme)])
    }

    /// The cookie of the session and its user. Counts an unknown token, as the API does.
    /// - Throws: 403 for a request that does not come from the page itself, 429, `PostgresError`
    private func session(
        _ request: Request, _ context: RequestContext
    ) async throws -> (sender: Sender, cookie: SessionCookie?, user: UserID?) {
        guard origins.isFromPage(request, context) else {
            throw HTTPError(.forbidden, "A session is for the map page only, at an address of HUMON_WEB_ORIGINS")
        }
        let sender = context.sender(of: request)
        guard let cookie = SessionCookie(request, sender.scheme) else { return (sender, nil, nil) }
        try unknownTokens?.check(sender.address?.subscriber)
        let user = try await users.user(of: cookie.token)
        if user == nil { _ = try? unknownTokens?.take(sender.address?.subscriber) }
        return (sender, cookie, user)
    }
}

extension Request {
    fileprivate func commandContext(_ context: RequestContext) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self))
    }
}

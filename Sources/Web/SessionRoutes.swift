internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import Users

/// Sessions: the map page signs a device up without the secret of the app, which a page cannot keep.
struct SessionRoutes: Sendable {
    private let users: UsersModule
    private let origins: WebOrigins
    private let sessions: RateLimiter?
    private let allSessions: RateLimiter?

    init(_ settings: MapPage.Settings, users: UsersModule) {
        self.users = users
        origins = settings.origins
        sessions = RateLimiter("sessions", perMinute: settings.sessionsPerMinute)
        allSessions = RateLimiter("all-sessions", perMinute: settings.allSessionsPerMinute)
    }

    var routes: [Route] {
        [
            Route(.get, "/session", "getSession", getSession),
            Route(.post, "/session", "createSession", createSession),
            Route(.delete, "/session", "deleteSession", deleteSession),
        ]
    }

    /// Responds with the user of the session, `{"id":null}` without one. Removes a cookie whose token is dead: the API would refuse reads
    /// with it.
    private func getSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        try requirePage(request, context)
        var response = Response(json: ["id": .null])
        let scheme = context.sender(of: request).scheme
        guard let token = SessionCookie.token(in: request, scheme) else { return response }
        if let user = try await users.user(of: token) { return Response(json: ["id": JSON(user.rawValue)]) }
        response.headers[.setCookie] = SessionCookie.removal(scheme)
        return response
    }

    /// Signs a new device up, unless the session has a user already.
    private func createSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        try requirePage(request, context)
        let sender = context.sender(of: request)
        if let token = SessionCookie.token(in: request, sender.scheme), let user = try await users.user(of: token) {
            return Response(json: ["id": JSON(user.rawValue)])
        }
        let allowance = try sessions?.take(sender.address?.subscriber)
        _ = try allSessions?.take("")
        let (user, token, position) = try await users.signUp(with: nil, context: request.commandContext(context))
        var response = Response(json: ["id": JSON(user.rawValue)])
        response.headers[.setCookie] = SessionCookie.value(token, sender.scheme)
        response.headers[.init(literal: "humon-position")] = String(position)
        response.addRateLimitHeaders(allowance)
        return response
    }

    /// Revokes the token of the session and makes the browser forget it. The user stays, without a token.
    private func deleteSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        try requirePage(request, context)
        let scheme = context.sender(of: request).scheme
        if let token = SessionCookie.token(in: request, scheme) {
            _ = try await users.revoke(token, context: request.commandContext(context))
        }
        return Response(status: .noContent, headers: [.setCookie: SessionCookie.removal(scheme)])
    }

    /// - Throws: 403 for a request that does not come from the page itself
    private func requirePage(_ request: Request, _ context: RequestContext) throws(HTTPError) {
        guard origins.isFromPage(request, context) else {
            throw HTTPError(.forbidden, "A session is for the map page only, at an address of HUMON_WEB_ORIGINS")
        }
    }
}

extension Request {
    fileprivate func commandContext(_ context: RequestContext) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self))
    }
}

public import HTTPServer
public import HTTPTypes
public import Users

/// The map page and the sessions of its visitors: further routes of the API's server, and a middleware before them.
public struct MapPage: Sendable {
    public struct Settings: Sendable {
        /// `nil`: the map shows countries and cities only.
        public var tiles: Tiles?
        public var origins: WebOrigins
        /// The limit for one client address; 0 for no limit.
        public var sessionsPerMinute: Int
        /// The limit for all clients together; 0 for no limit.
        public var allSessionsPerMinute: Int

        public init(
            tiles: Tiles? = nil, origins: WebOrigins = .loopback, sessionsPerMinute: Int = 0, allSessionsPerMinute: Int = 0
        ) {
            self.tiles = tiles
            self.origins = origins
            self.sessionsPerMinute = sessionsPerMinute
            self.allSessionsPerMinute = allSessionsPerMinute
        }
    }

    /// Before all other routes.
    public let routes: [Route]
    /// Before all other middleware.
    public let middleware: [any Middleware]

    /// - Parameter tokenHeaders: the names under which the API takes the token of a device
    public init(_ settings: Settings, users: UsersModule, tokenHeaders: [HTTPField.Name]) {
        let release = PageRelease(tiles: settings.tiles)
        let sessions = SessionRoutes(settings, users: users)
        routes =
            [
                Route.immediate(.get, "/") { request, _ in release.page(for: request) },
                Route.immediate(.get, "/assets/{release}/{file}") { request, context in
                    try release.asset(for: request, release: context.parameter)
                },
            ] + sessions.routes
        middleware = [
            PageHeaders(headers: SecurityHeaders(tiles: settings.tiles)),
            SessionTokens(origins: settings.origins, tokenHeaders: tokenHeaders),
        ]
    }
}

/// Adds ``SecurityHeaders`` to the responses of the page's routes.
private struct PageHeaders: Middleware {
    let headers: SecurityHeaders

    func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        let path = request.path
        if path == "/" || path == "/session" || path.hasPrefix("/assets/") { headers.add(to: &response) }
    }
}

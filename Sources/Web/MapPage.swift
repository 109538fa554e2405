internal import Encoding
internal import EventStore
public import Events
public import HTTPServer
public import HTTPTypes
public import Users

/// The map page and the sessions of its visitors: further routes of the API's server, and a middleware before them.
public struct MapPage: Sendable {
    public struct Settings: Sendable {
        /// `nil`: the map shows coasts, countries and cities only.
        public var tiles: Tiles?
        public var origins = WebOrigins.loopback
        /// The limit for one client address; 0 for no limit.
        public var sessionsPerMinute = 0
        /// The limit for all clients together; 0 for no limit.
        public var allSessionsPerMinute = 0
        var now = Dependencies.system.now

        public init() {}
    }

    /// Before all other routes.
    public let routes: [Route]
    /// Before all other middleware.
    public let middleware: [any Middleware]

    /// - Parameters:
    ///   - events: the events that have pages; `nil` if only devices may read
    ///   - tokenHeaders: the names under which the API takes the token of a device
    ///   - unknownTokens: the API's limit of unknown tokens for one client address
    ///   - dailySignUps: the API's quota of sign-ups for one client address
    ///   - takeReturn: counts an attempt to come back from one client address, as the API does
    public init(
        _ settings: Settings, users: UsersModule, events: EventsModule?, tokenHeaders: [HTTPField.Name],
        unknownTokens: RateLimiter? = nil,
        dailySignUps: RateLimiter? = nil, takeReturn: @escaping @Sendable (NetworkAddress?) throws -> Void
    ) {
        let release = PageRelease(tiles: settings.tiles)
        var page = [
            Route.immediate(.get, "/") { request, _ in release.page(for: request) },
            // The address of a link to come back with: what follows its # reaches no server.
            Route.immediate(.get, "/back") { request, _ in release.page(for: request) },
            Route.immediate(.get, "/assets/{release}/{file}") { request, context in
                try release.asset(for: request, release: context.parameter)
            },
            // Feeds are not named: calendar programs obey this file, too.
            Route.immediate(.get, "/robots.txt") { _, _ in Response(text: "User-agent: *\nDisallow: /session\n") },
        ]
        if let events {
            page += EventPages(events, release, origin: settings.origins.canonical).routes
        }
        let sessions = SessionRoutes(
            settings, users: users, unknownTokens: unknownTokens, dailySignUps: dailySignUps, takeReturn: takeReturn)
        routes = page + sessions.routes
        middleware = [
            SecurityHeaders(on: routes, tiles: settings.tiles),
            ErrorPages(release: release),
            SessionTokens(origins: settings.origins, tokenHeaders: tokenHeaders),
        ]
    }
}

/// A server of raster tiles, which shows streets below the events.
public struct Tiles: Sendable, Hashable {
    /// The URL of a tile, with `{z}`, `{x}` and `{y}`, perhaps `{r}`, which is `@2x` on a fine screen, and no other placeholder.
    public let template: String
    /// The text that the tile server's terms ask for.
    public let attribution: String
    /// Scheme, host and port of the URL, for the content security policy.
    let origin: String

    /// - Parameter text: a URL, a space, and the attribution
    /// - Returns: `nil` if the text is not that
    public init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2,
            let match = parts[0].wholeMatch(of: /(https?:\/\/[A-Za-z0-9.\-]+(?::[0-9]+)?)\/[!-~]*/),
            Origin(match.1) != nil, ["{z}", "{x}", "{y}"].allSatisfy(parts[0].contains),
            // Leaflet draws no tile if it cannot fill a placeholder.
            !["{z}", "{x}", "{y}", "{r}"].reduce(parts[0], { $0.replacing($1, with: "") }).contains(where: "{}".contains)
        else { return nil }
        template = String(parts[0])
        attribution = String(parts[1])
        origin = String(match.1)
    }
}

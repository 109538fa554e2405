internal import HTTPServer
internal import HTTPTypes

/// Limits what a browser does with the responses and refusals of the map page's routes. `nosniff` is on every response of the server.
struct SecurityHeaders: Middleware {
    private let paths: Set<String>
    private let fields: HTTPFields

    init(on routes: [Route], tiles: Tiles?) {
        paths = Set(routes.map(\.path))
        fields = [
            .contentSecurityPolicy: Self.contentSecurityPolicy(tiles: tiles),
            .init(literal: "cross-origin-opener-policy"): "same-origin",
            .init(literal: "cross-origin-resource-policy"): "same-origin",
            .init(literal: "permissions-policy"): "geolocation=(self), camera=(), microphone=(), payment=()",
            // The terms of tile servers ask for the origin.
            .init(literal: "referrer-policy"): tiles == nil ? "no-referrer" : "strict-origin-when-cross-origin",
            .init(literal: "x-frame-options"): "DENY",
        ]
    }

    /// Lets the page use files of its own origin, and images of the tile server. Source: W3C *Content Security Policy*, level 3.
    static func contentSecurityPolicy(tiles: Tiles?) -> String {
        // Leaflet replaces the image of a tile that it no longer needs by an empty image in a data URL.
        let images = tiles.map { " data: \($0.origin)" } ?? ""
        return """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'\(images); connect-src 'self'; base-uri 'none'; \
            form-action 'none'; frame-ancestors 'none'
            """
    }

    func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        if let route = context.route, paths.contains(route.template) { response.headers.append(contentsOf: fields) }
    }
}

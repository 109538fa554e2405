internal import HTTPServer
internal import HTTPTypes

/// Limits what a browser does with the responses and refusals of the map page's routes. `nosniff` is on every response of the server.
struct SecurityHeaders: Middleware {
    private let paths: Set<String>
    private let fields: HTTPFields
    /// Of the list that any other page may have in a frame. It does nothing for its visitor, so nobody gains by a foreign page around it.
    private let embeddedFields: HTTPFields

    init(on routes: [Route], tiles: Tiles?) {
        paths = Set(routes.map(\.path))
        embeddedFields = [
            .contentSecurityPolicy:
                "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
            .init(literal: "cross-origin-resource-policy"): "cross-origin",
            .init(literal: "referrer-policy"): "no-referrer",
            .init(literal: "x-robots-tag"): "noindex",
        ]
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
        // An address that nothing has gets a page, too (ErrorPages).
        let isOfPage = context.route.map { paths.contains($0.template) } ?? (response.headers[.contentType] == HTML.mediaType)
        guard isOfPage else { return }
        let isEmbedded = context.route?.template == EventPages.embeddedPath
        response.headers.append(contentsOf: isEmbedded ? embeddedFields : fields)
    }
}

internal import HTTPServer
internal import HTTPTypes

/// The fields that limit what a browser does with the responses of the map page.
struct SecurityHeaders: Sendable {
    private let fields: HTTPFields

    init(tiles: Tiles?) {
        fields = [
            .contentSecurityPolicy: Self.contentSecurityPolicy(tiles: tiles),
            .xContentTypeOptions: "nosniff",
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

    fileprivate func add(to headers: inout HTTPFields) { headers.append(contentsOf: fields) }
}

extension Route {
    /// The same route, with these fields in its responses and refusals.
    func adding(_ fields: SecurityHeaders) -> Route {
        var immediately: ImmediateHandler?
        if let respondImmediately {
            immediately = { request, context in
                do {
                    let result = try respondImmediately(request, context)
                    guard case .response(var response) = result else { return result }
                    fields.add(to: &response.headers)
                    return .response(response)
                } catch var error as HTTPError {
                    fields.add(to: &error.headers)
                    throw error
                }
            }
        }
        return Route(method, path, operation, limit: limit, immediately: immediately) { [respond] request, context in
            do {
                var response = try await respond(request, context)
                fields.add(to: &response.headers)
                return response
            } catch var error as HTTPError {
                fields.add(to: &error.headers)
                throw error
            }
        }
    }
}

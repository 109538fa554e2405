/// A server of raster tiles, which shows streets below the events.
public struct Tiles: Sendable, Hashable {
    /// The URL of a tile, with `{z}`, `{x}` and `{y}`.
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
            ["{z}", "{x}", "{y}"].allSatisfy(parts[0].contains)
        else { return nil }
        template = String(parts[0])
        attribution = String(parts[1])
        origin = String(match.1)
    }
}

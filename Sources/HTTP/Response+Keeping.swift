internal import HTTPTypes
internal import Hummingbird

extension Response {
    /// May be kept, by a proxy where anybody may read, and must be asked about before it is used again: what is kept may be old
    /// the next moment. Source: RFC 9111, section 5.2.2.4.
    func kept(where reads: API.Reads) -> Response {
        var response = self
        response.headers[.cacheControl] =
            switch reads {
            case .everyone: "public, no-cache"
            case .devices: "private, no-cache"
            }
        return response
    }

    /// What is not said to be kept is not: tokens, refusals, what only holds now.
    var notKeptUnlessSaid: Response {
        guard headers[.cacheControl] == nil else { return self }
        var response = self
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

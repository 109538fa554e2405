internal import HTTPServer
internal import HTTPTypes

extension Response {
    /// Lets caches keep the response and ask the server before each use. Shared caches may keep it if reads are public. Source: RFC 9111, section 5.2.2.4.
    mutating func setCacheControl(for reads: API.Reads) {
        let directives =
            switch reads {
            case .everyone: "public, no-cache"
            case .devices: "private, no-cache"
            }
        headers.append(HTTPField(name: .cacheControl, value: directives))
    }
}

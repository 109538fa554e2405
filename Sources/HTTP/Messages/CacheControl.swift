internal import HTTPServer
internal import HTTPTypes

extension Response {
    /// Allows caches to keep the response, shared ones only if anybody may read, but not to use it again without asking: it may be
    /// old the next moment. Source: RFC 9111, section 5.2.2.4.
    mutating func setCacheControl(for reads: API.Reads) {
        let directives =
            switch reads {
            case .everyone: "public, no-cache"
            case .devices: "private, no-cache"
            }
        headers.append(HTTPField(name: .cacheControl, value: directives))
    }
}

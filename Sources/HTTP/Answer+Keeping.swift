internal import HTTPTypes

extension Answer {
    /// May be kept, by a proxy where anybody may read, and must be asked about before it is used again: what is kept may be old
    /// the next moment. Source: RFC 9111, section 5.2.2.4.
    mutating func mayBeKept(where reads: API.Reads) {
        let directives =
            switch reads {
            case .everyone: "public, no-cache"
            case .devices: "private, no-cache"
            }
        headers.append(HTTPField(name: .cacheControl, value: directives))
    }

    /// What is not said to be kept is not: tokens, refusals, what only holds now.
    mutating func mayNotBeKeptUnlessSaid() {
        if !headers.contains(.cacheControl) { headers.append(HTTPField(name: .cacheControl, value: "no-store")) }
    }
}

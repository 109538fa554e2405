internal import HTTPTypes

/// Sends the id of each request back in `X-Request-Id`.
public struct RequestIDs: Middleware {
    public init() {}

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        response.headers.append(HTTPField(name: .xRequestID, value: context.requestID))
    }
}

/// Sets `X-Content-Type-Options: nosniff`, so that a browser takes no response for a page or a script.
/// Source: WHATWG *Fetch*, section 3.6.
public struct NoSniff: Middleware {
    public init() {}

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        if !response.headers.contains(.xContentTypeOptions) {
            response.headers.append(HTTPField(name: .xContentTypeOptions, value: "nosniff"))
        }
    }
}

/// Sets `Cache-Control: no-store` unless the handler has set `Cache-Control`: for tokens, errors and momentary values.
public struct NoStoreByDefault: Middleware {
    public init() {}

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        if !response.headers.contains(.cacheControl) {
            response.headers.append(HTTPField(name: .cacheControl, value: "no-store"))
        }
    }
}

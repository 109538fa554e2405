internal import HTTPTypes

/// Sends the id of each request back in `X-Request-Id`.
public struct RequestIDs: Middleware {
    public init() {}

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        response.headers.append(HTTPField(name: .xRequestID, value: context.requestID))
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

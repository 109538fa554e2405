public import HTTPTypes

/// Sends the id of each request back in `X-Request-Id`.
public struct RequestIDs: Middleware {
    public init() {}

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        response.headers.append(HTTPField(name: .xRequestID, value: context.requestID))
    }
}

/// Sets header fields that the handler has not set.
public struct DefaultFields: Middleware {
    private let fields: HTTPFields

    public init(_ fields: HTTPFields) { self.fields = fields }

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        for field in fields where !response.headers.contains(field.name) { response.headers.append(field) }
    }
}

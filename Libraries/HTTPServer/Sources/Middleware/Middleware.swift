/// Changes requests before their route answers them, and responses afterwards.
///
/// Both functions run on the event loop or in a task, and must not wait. They must have no side effects: a request that is
/// prepared for an immediate handler is prepared again if it needs a task. A ``RequestObserver`` may have side effects.
public protocol Middleware: Sendable {
    /// Runs before the route.
    /// - Returns: a response if the request must not reach its route
    /// - Throws: ``HTTPError`` if the request is refused
    func prepare(_ request: inout Request, _ context: RequestContext) throws(HTTPError) -> Response?

    /// Runs after the route, and after a refusal.
    func finish(_ response: inout Response, for request: Request, _ context: RequestContext)

    /// Whether ``finish(_:for:_:)`` would take so long that it must not run on the event loop.
    func finishNeedsTask(_ response: Response, for request: Request) -> Bool
}

extension Middleware {
    public func prepare(_ request: inout Request, _ context: RequestContext) -> Response? { nil }
    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {}
    public func finishNeedsTask(_ response: Response, for request: Request) -> Bool { false }
}

/// Observes each request once when it begins and once when its response is ready: counts or logs it.
public protocol RequestObserver: Sendable {
    /// Called on the event loop or in a task. It must not wait.
    func requestBegan(_ request: Request, _ context: RequestContext)

    /// - Parameter response: as it is sent, without `Content-Length` and `Date`
    func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response)
}

extension RequestObserver {
    public func requestBegan(_ request: Request, _ context: RequestContext) {}
}

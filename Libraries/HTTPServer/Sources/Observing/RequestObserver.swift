/// Observes each request once when it begins and once when its response is ready: counts, traces, or logs it.
public protocol RequestObserver: Sendable {
    /// Called on the event loop or in a task. It must not wait.
    func requestBegan(_ request: Request, _ context: inout RequestContext)

    /// - Parameter response: as it is sent, without `Content-Length` and `Date`
    func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response)
}

extension RequestObserver {
    public func requestBegan(_ request: Request, _ context: inout RequestContext) {}
}

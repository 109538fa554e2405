internal import EventStore
internal import HTTPServer

extension RequestContext {
    /// The id in the path; 0 for a text that is no id, which nothing has. So a route can refuse an unknown token before an unknown id.
    var possibleID: Int64 { (try? id()) ?? 0 }
}

extension Request {
    /// The context of a command that this request asks for.
    func commandContext(_ context: RequestContext, key: IdempotencyKey? = nil) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self), key: key)
    }
}

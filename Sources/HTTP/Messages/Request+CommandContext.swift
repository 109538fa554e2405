internal import EventStore
internal import HTTPServer

extension Request {
    /// The context of a command that this request asks for.
    func commandContext(_ context: RequestContext, key: IdempotencyKey? = nil) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self), key: key)
    }
}

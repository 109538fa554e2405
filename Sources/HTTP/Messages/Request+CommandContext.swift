internal import HTTPServer
internal import Users

extension Request {
    func commandContext(_ context: RequestContext, key: IdempotencyKey? = nil) -> CommandContext {
        CommandContext(requestID: context.requestID, traceID: context.traceID(of: self), key: key)
    }
}

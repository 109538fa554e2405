internal import HTTPServer
internal import Users

extension Request {
    func origin(_ context: RequestContext, key: IdempotencyKey? = nil) -> Origin {
        Origin(requestID: context.requestID, traceID: context.traceID(of: self), key: key)
    }
}

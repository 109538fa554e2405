internal import HTTPTypes
internal import Hummingbird

/// A route as a value: what is served and what the document describes.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, Exchange) async throws -> Answer
    /// Must not wait, and not take longer than a search does.
    typealias ImmediateHandler = @Sendable (Request, Exchange) throws -> Answer?

    let method: HTTPRequest.Method
    /// As in the document: `/v1/events/{id}`.
    let path: String
    /// The document's `operationId`.
    let operation: String
    let handle: Handler
    /// Answers on the thread that has read the request, as `handle` would; nil: that cannot be, and `handle` is to be asked, as where
    /// it throws.
    let handleAtOnce: ImmediateHandler?

    init(
        _ method: HTTPRequest.Method, _ path: String, _ operation: String, atOnce handleAtOnce: ImmediateHandler? = nil,
        _ handle: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.operation = operation
        self.handle = handle
        self.handleAtOnce = handleAtOnce
    }
}

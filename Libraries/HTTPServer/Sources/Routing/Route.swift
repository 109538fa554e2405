public import HTTPTypes

/// A route as a value: a method, a path, and one or two handlers.
public struct Route: Sendable {
    /// Responds in a task, and may wait.
    public typealias Handler = @Sendable (Request, RequestContext) async throws -> Response
    /// Responds on the event loop. It must not wait, and must not compute for more than a few hundred microseconds: all
    /// connections of the loop wait meanwhile.
    public typealias ImmediateHandler = @Sendable (Request, RequestContext) throws -> ImmediateResponse

    public let method: HTTPRequest.Method
    /// A template: `/v1/events/{id}`.
    public let path: String
    /// The name of the operation, for documents. Empty if it has none.
    public let operation: String
    /// The limit that counts the tasks of this route.
    public let limit: InFlightRequests.Limit
    public let respond: Handler
    /// `nil` if every request of this route needs a task.
    public let respondImmediately: ImmediateHandler?

    /// - Parameters:
    ///   - limit: `nil` for a route that waits for something outside of the process: `reading` for GET, else `writing`
    ///   - respondImmediately: tried first. It must have no side effect before it returns a response.
    public init(
        _ method: HTTPRequest.Method, _ path: String, _ operation: String = "", limit: InFlightRequests.Limit? = nil,
        immediately respondImmediately: ImmediateHandler? = nil, _ respond: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.operation = operation
        self.limit = limit ?? (method == .get ? .reading : .writing)
        self.respond = respond
        self.respondImmediately = respondImmediately
    }

    /// A route that never needs a task. Not an initialiser: Swift prefers a synchronous closure to an asynchronous one, and would make
    /// `Route(.get, "/") { … }` an immediate route whenever its closure does not wait.
    public static func immediate(
        _ method: HTTPRequest.Method, _ path: String, _ operation: String = "",
        _ respond: @escaping @Sendable (Request, RequestContext) throws -> Response
    ) -> Route {
        Route(
            method, path, operation, limit: .computing,
            immediately: { request, context in .response(try respond(request, context)) },
            { request, context in try respond(request, context) })
    }
}

/// The result of an ``Route/ImmediateHandler``.
public enum ImmediateResponse: Sendable {
    case response(Response)
    /// The request needs ``Route/respond``. The immediate handler has had no side effect.
    case needsTask
    /// As ``needsTask``. The task only computes, and counts against that limit.
    case needsLongTask
}

/// The methods of the IANA registry. A request with another method on an unknown path gets 501.
enum StandardMethods {
    private static let names: Set<String> = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LABEL", "LINK",
        "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "OPTIONS", "ORDERPATCH",
        "PATCH", "POST", "PRI", "PROPFIND", "PROPPATCH", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "TRACE", "UNBIND",
        "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    static func contains(_ method: String) -> Bool { names.contains(method) }
}

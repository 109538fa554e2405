internal import HTTPTypes
public import Logging
internal import NIOCore

/// Responds to requests: middleware, route, middleware, observers.
///
/// ```swift
/// let routes = [
///     // Responds on the event loop, because the handler neither waits nor computes for long.
///     Route.immediate(.get, "/hello/{name}") { _, context in Response(text: "Hello, \(context.parameter)!") },
///     // Responds in a task.
///     Route(.post, "/echo") { request, _ in
///         guard request.body.readableBytes > 0 else { throw HTTPError(.badRequest, "There is no body") }
///         return Response(body: request.body)
///     },
/// ]
/// return Router(routes: routes, middleware: [CORS(allowing: .all), Compression(), RequestIDs()], logger: logger)
/// ```
///
/// Each middleware prepares a request in order, its route responds, and each middleware finishes the response in reverse order.
/// The server calls ``respondImmediately(to:from:)`` on the event loop. If the request needs a task, the server runs the task
/// that the router returns. Both ways give the same response.
public struct Router: Sendable {
    /// Maps an error that is not an ``HTTPError`` to one.
    public typealias ErrorMapping = @Sendable (any Error, Request, RequestContext) -> HTTPError

    private let routes: RouteTable
    private let middleware: [any Middleware]
    /// The same in reverse order, in which responses pass it.
    private let reversedMiddleware: [any Middleware]
    private let observers: [any RequestObserver]
    private let targetLimitBytes: Int
    private let problems: ProblemDetails
    private let mapError: ErrorMapping

    /// - Parameters:
    ///   - observers: count or log requests; the last of them ends first
    ///   - targetLimitBytes: the longest path and query; a longer one is refused with 414
    ///   - problemTypePrefix: with the code of an error behind it, it is the URI of a page about that error
    ///   - mapError: called for errors that are not ``HTTPError``
    public init(
        routes: [Route], middleware: [any Middleware] = [], observers: [any RequestObserver] = [],
        targetLimitBytes: Int = 8 * 1024, problemTypePrefix: String? = nil, mapError: @escaping ErrorMapping
    ) {
        self.routes = RouteTable(routes)
        self.middleware = middleware
        reversedMiddleware = middleware.reversed()
        self.observers = observers
        self.targetLimitBytes = targetLimitBytes
        problems = ProblemDetails(typePrefix: problemTypePrefix)
        self.mapError = mapError
    }

    /// A router that logs unknown errors and responds with 500.
    public init(
        routes: [Route], middleware: [any Middleware] = [], observers: [any RequestObserver] = [],
        targetLimitBytes: Int = 8 * 1024, logger: Logger
    ) {
        self.init(routes: routes, middleware: middleware, observers: observers, targetLimitBytes: targetLimitBytes) {
            error, request, context in
            logger.error(
                "a request failed",
                metadata: [
                    "request_id": "\(context.requestID)", "method": "\(request.method)",
                    "route": "\(context.route?.template ?? "-")", "error": "\(error)",
                ])
            return .internalServerError
        }
    }
}

// MARK: Responding

extension Router {
    /// The result of ``Router/respondImmediately(to:from:)``.
    enum Result {
        case response(Response)
        case needsTask(RequestTask)
    }

    /// The rest of the work for a request.
    struct RequestTask: Sendable {
        /// The limit that counts this task.
        let limit: InFlightRequests.Limit
        let run: @Sendable () async -> Response
    }

    /// Responds on the event loop, or returns the task that will.
    /// - Parameter isWaiting: whether the caller waits for a task in any case, so that no immediate handler is tried
    func respondImmediately(to request: Request, from connection: ConnectionInfo, isWaiting: Bool = false) -> Result {
        var request = request
        var context = RequestContext(request, from: connection)
        let response: Response
        do {
            if let early = try prepare(&request, &context) {
                response = early
            } else {
                let match = try match(of: request, context)
                let handler = isWaiting ? nil : routes.immediateHandler(of: match)
                switch try handler?(request, context) ?? .needsTask {
                case .response(let immediate): response = immediate
                case .needsTask: return .needsTask(task(request, context, routes[match]))
                case .needsLongTask: return .needsTask(task(request, context, routes[match], limit: .computing))
                }
            }
        } catch {
            response = self.response(to: request, error, context)
        }
        if middleware.contains(where: { $0.finishNeedsTask(response, for: request) }) {
            return .needsTask(
                RequestTask(limit: .computing) { [request, context] in
                    begin(request, context)
                    return end(response, request, context)
                })
        }
        begin(request, context)
        return .response(end(response, request, context))
    }

    /// Responds in the caller's task, without the immediate handler.
    public func respond(to request: Request, from connection: ConnectionInfo) async -> Response {
        switch respondImmediately(to: request, from: connection, isWaiting: true) {
        case .response(let response): response
        case .needsTask(let task): await task.run()
        }
    }

    /// The response to bytes that are not a request, and to requests that are too slow or too many.
    /// - Parameter head: `nil` if the head is unreadable
    func respond(with error: HTTPError, to head: HTTPRequest?, from connection: ConnectionInfo) -> Response {
        var request = Request(head: head ?? Self.unreadable)
        var context = RequestContext(request, from: connection)
        if head != nil { _ = try? prepare(&request, &context) }
        begin(request, context)
        return end(response(to: request, error, context), request, context)
    }

    private static let unreadable = HTTPRequest(method: .unreadable, scheme: nil, authority: nil, path: nil)

    /// - Parameter limit: `nil` for the limit of the route
    private func task(
        _ request: Request, _ context: RequestContext, _ route: Route, limit: InFlightRequests.Limit? = nil
    ) -> RequestTask {
        RequestTask(limit: limit ?? route.limit) {
            begin(request, context)
            let response: Response
            do { response = try await route.respond(request, context) } catch {
                response = self.response(to: request, error, context)
            }
            return end(response, request, context)
        }
    }
}

// MARK: Steps

extension Router {
    private func prepare(_ request: inout Request, _ context: inout RequestContext) throws(HTTPError) -> Response? {
        request.normalizePath()
        for middleware in middleware {
            if let response = try middleware.prepare(&request, context) { return response }
        }
        context.route = routes.match(request.method, request.path)
        return nil
    }

    private func match(of request: Request, _ context: RequestContext) throws(HTTPError) -> RouteMatch {
        if request.target.utf8.count > targetLimitBytes { throw .targetTooLong(limitBytes: targetLimitBytes) }
        if let match = context.route { return match }
        // CONNECT names no resource of this server: its target is another host. Source: RFC 9110, section 9.3.6.
        if request.method == .connect { throw .methodNotAllowed(allowed: routes.allMethods) }
        if request.target == "*" { throw request.method == .options ? serverOptions : .malformed }
        let allowed = routes.methods(at: request.path)
        guard allowed.isEmpty else { throw .methodNotAllowed(allowed: allowed) }
        throw StandardMethods.contains(request.method.rawValue) ? .notFound : .notImplemented
    }

    /// The response to `OPTIONS *`, which is about the server and not about a resource. Source: RFC 9110, section 9.3.7.
    private var serverOptions: HTTPError {
        let methods = routes.allMethods + [.options]
        return HTTPError(.noContent, body: nil, headers: [.allow: methods.map(\.rawValue).joined(separator: ", ")])
    }

    private func response(to request: Request, _ error: any Error, _ context: RequestContext) -> Response {
        let error = error as? HTTPError ?? mapError(error, request, context)
        return problems.response(to: request, error, requestID: context.requestID)
    }

    private func begin(_ request: Request, _ context: RequestContext) {
        for observer in observers { observer.requestBegan(request, context) }
    }

    private func end(_ response: consuming Response, _ request: Request, _ context: RequestContext) -> Response {
        var response = response
        // The response to HEAD has its head only, and for a stream no length.
        if request.method == .head { response.stream = nil }
        do throws(HTTPError) {
            try context.connection.reserveBody(of: &response)
            try context.connection.permitStream(of: &response, to: request.headers)
        } catch {
            response = self.response(to: request, error, context)
        }
        for middleware in reversedMiddleware { middleware.finish(&response, for: request, context) }
        if request.method == .head { response.removeBody() }
        for observer in observers.reversed() { observer.requestEnded(request, context, response) }
        return response
    }
}

extension HTTPRequest.Method {
    /// The method that observers get for an unreadable request.
    static let unreadable: HTTPRequest.Method = {
        guard let method = HTTPRequest.Method("-") else { preconditionFailure("- is a token") }
        return method
    }()
}

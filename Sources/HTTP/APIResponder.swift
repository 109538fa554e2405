internal import Attendances
internal import Events
internal import HTTPTypes
public import Hummingbird
internal import Logging

/// Answers every request: by its route, or by a refusal in the API's words.
public struct APIResponder: HTTPResponder {
    public typealias Context = APIContext

    private let routes: [Route]
    private let router: RouterResponder<APIContext>
    private let isUnavailability: @Sendable (any Error) -> Bool

    public init(_ api: API) {
        routes = api.routes
        isUnavailability = api.isUnavailability
        let router = Router(context: APIContext.self)
        for (index, route) in routes.enumerated() {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                context.route.take(index)
                return try await route.handle(request, context)
            }
        }
        self.router = router.buildResponder()
    }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        let request = request.droppingFormatSuffix
        var response: Response
        do {
            // Where there is no route it answers an empty 404.
            response = try await router.respond(to: request.withGetForHead, context: context)
            if context.route.index == nil { response = notRouted(request).response }
        } catch {
            response = refusal(for: error, request, context).response
        }
        response.headers[.xRequestID] = request.requestID(context)
        response = await response.coded(for: request)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func notRouted(_ request: Request) -> Refusal {
        let allowed = routes.methods(at: request.uri.path)
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
    }

    private func refusal(for error: any Error, _ request: Request, _ context: APIContext) -> Refusal {
        if let rejection = error as? EventRejection { return Refusal(rejection) }
        if let rejection = error as? AttendanceRejection { return Refusal(rejection) }
        if error is PositionNotReached { return .unavailable }
        let metadata: Logger.Metadata = [
            "request_id": "\(request.requestID(context))", "method": "\(request.method)",
            "route": "\(context.endpointPath ?? "-")", "error": "\(error)",
        ]
        guard isUnavailability(error) else {
            context.logger.error("a request failed", metadata: metadata)
            return .internal
        }
        context.logger.warning("a request could not be served now", metadata: metadata)
        return .unavailable
    }
}

extension Request {
    /// HEAD is answered as GET is, up to the body: its length and its coding are told, too.
    fileprivate var withGetForHead: Request {
        guard method == .head else { return self }
        var head = head
        head.method = .get
        return Request(head: head, body: body)
    }

    /// A `.json` at the end of a path says what is so anyway, and some clients write it.
    fileprivate var droppingFormatSuffix: Request {
        // In bytes first: almost no path has it, and the URI makes its path anew whenever it is asked.
        guard let target = head.path?.utf8,
            target.prefix(while: { $0 != UInt8(ascii: "?") }).suffix(5).elementsEqual(".json".utf8),
            uri.path != "/v1/openapi.json"
        else { return self }
        var head = head
        head.path = String(uri.path.dropLast(".json".count)) + (uri.query.map { "?\($0)" } ?? "")
        return Request(head: head, body: body)
    }
}

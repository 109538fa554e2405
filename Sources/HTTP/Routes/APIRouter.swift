internal import EventStore
internal import Events
public import HTTPServer
internal import HTTPTypes
public import Logging
public import Telemetry

/// The v1 API as a router: its routes, and everything that every response of it has.
public struct APIRouter: Sendable {
    public let router: Router
    private let requests: RequestMetrics

    /// - Parameters:
    ///   - additionalRoutes: further routes, such as the routes of a page
    ///   - additionalMiddleware: stands before the API's own
    ///   - origins: origins of the pages that may use the API from a browser
    ///   - log: writes a line for every request; `nil` if requests are not logged
    ///   - logger: gets the errors that clients must not see
    public init(
        _ api: API, beside additionalRoutes: [Route] = [], behind additionalMiddleware: [any Middleware] = [],
        allowing origins: CORSOrigins = .none, log: RequestLog? = nil, logger: Logger
    ) {
        let routes = api.routes + additionalRoutes
        requests = RequestMetrics(prefix: "humon", routes: routes, bodyLimitBytes: API.bodyLimitBytes)
        let observers: [(any RequestObserver)?] = [log, requests]
        router = Router(
            routes: routes,
            middleware: [AnswerGate(mayAnswer: api.mayAnswer)] + additionalMiddleware + [FormatSuffix()]
                + Self.cors(allowing: origins, to: api.routes)
                + [Compression(), DefaultFields(Self.defaults), RequestIDs()],
            observers: observers.compactMap(\.self), targetLimitBytes: API.targetLimitBytes,
            problemTypePrefix: "/docs#error-"
        ) { error, request, context in
            api.httpError(error, request, context, logger)
        }
    }

    public var metrics: [Metric] { requests.metrics }

    /// No browser takes a response for a page or a script, and no cache keeps tokens, errors and momentary values.
    private static let defaults: HTTPFields = [.xContentTypeOptions: "nosniff", .cacheControl: "no-store"]

    /// - Returns: none if no page of another origin may use the API
    private static func cors(allowing origins: CORSOrigins, to routes: [Route]) -> [any Middleware] {
        guard origins != .none else { return [] }
        return [
            CORS(
                allowing: origins, except: [CalendarRoutes.ownPath], methods: methods(of: routes), requestHeaders: requestHeaders,
                exposedHeaders: exposedHeaders)
        ]
    }

    /// The methods that pages of other origins may use.
    private static func methods(of routes: [Route]) -> [HTTPRequest.Method] {
        let served = Set(routes.map(\.method)).union([.head])
        return [.get, .head, .post, .put, .patch, .delete].filter(served.contains)
    }

    /// The request fields that pages of other origins may set.
    private static let requestHeaders: [HTTPField.Name] =
        HTTPField.Name.appSecrets + HTTPField.Name.deviceTokens + [
            .accept, .authorization, .contentType, .ifMatch, .ifNoneMatch, .idempotencyKey, .humonPosition, .lastEventID,
            .xRequestID,
            .traceparent,
        ]
    /// The response fields that pages of other origins may read.
    private static let exposedHeaders: [HTTPField.Name] = [
        .age, .eTag, .humonPosition, .link, .location, .retryAfter, .xRequestID,
    ]
}

extension API {
    /// Maps an error of a module to a response. Logs every error that is no rejection.
    fileprivate func httpError(
        _ error: any Error, _ request: Request, _ context: RequestContext, _ logger: Logger
    ) -> HTTPError {
        if let rejection = error as? any Rejection { return HTTPError(rejection) }
        if error is PositionNotReachedError { return .unavailable(.positionNotReached) }
        if error is IndexNotInUseError { return .unavailable(.indexNotInUse) }
        if error is IndexFullError { return .unavailable(.indexFull) }
        let metadata: Logger.Metadata = [
            "request_id": "\(context.requestID)", "method": "\(request.method)",
            "route": "\(context.route?.template ?? "-")", "error": "\(error)",
        ]
        guard error.mayPass else {
            logger.error("a request failed", metadata: metadata)
            return .internalServerError
        }
        logger.warning("a request could not be served now", metadata: metadata)
        return .unavailable(unavailabilityCode(error))
    }

    private func unavailabilityCode(_ error: any Error) -> ErrorCode {
        switch error {
        case EventLogError.overloaded, is any UnavailabilityError: .overloaded
        case EventLogError.closed: .stopping
        // Near its end, a draining node closes its connections to the database.
        case _ where drain.hasBegun: .stopping
        default: .databaseUnavailable
        }
    }
}

/// Refuses every request, except those for the health, while the node may not answer.
private struct AnswerGate: Middleware {
    private static let openPaths: Set = ["/health", "/health/live", "/health.json", "/health/live.json"]

    let mayAnswer: @Sendable () -> Bool

    func prepare(_ request: inout Request, _ context: RequestContext) throws(HTTPError) -> Response? {
        guard !mayAnswer(), !Self.openPaths.contains(String(request.path)) else { return nil }
        throw .unavailable(.databaseUnavailable)
    }
}

/// Removes `.json` from the end of a path of the API: some clients write it, and every response is JSON anyway.
private struct FormatSuffix: Middleware {
    private static let (suffix, prefixes) = (".json", ["/v1/", "/health"])

    func prepare(_ request: inout Request, _ context: RequestContext) throws(HTTPError) -> Response? {
        let path = request.path
        guard path.utf8.suffix(Self.suffix.utf8.count).elementsEqual(Self.suffix.utf8), path != "/v1/openapi.json",
            Self.prefixes.contains(where: { path.utf8.starts(with: $0.utf8) })
        else { return nil }
        request.head.path = String(path.dropLast(Self.suffix.count)) + (request.query.map { "?\($0)" } ?? "")
        return nil
    }
}

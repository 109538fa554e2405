internal import Attendances
internal import Events
internal import HTTPTypes
public import Hummingbird
public import Logging
internal import NIOCore
public import Telemetry
public import Tracing

/// Answers every request of a client: by its route, or by a refusal in the API's words.
///
/// ``ClientConnection`` asks it: what takes no waiting is answered by ``answerAtOnce(_:from:)`` on the thread that has read the
/// request, everything else by ``answer(_:from:)`` in a task of its own (decision 24).
public struct APIResponder: HTTPResponder {
    public typealias Context = APIContext

    private let routes: RouteTable
    private let isUnavailability: @Sendable (any Error) -> Bool
    private let targetLimitBytes: Int
    private let scheme: Client.Scheme
    private let proxies: TrustedProxies
    private let cors: CORS
    private let observer: RequestObserver
    private let logger: Logger

    /// - Parameters:
    ///   - scheme: what is spoken to this server
    ///   - proxies: on whose word it is believed who sends a request
    ///   - origins: from whose pages a browser may ask
    ///   - tracer: makes a span of every request; nil: nobody traces
    ///   - log: is given every request; nil where nobody writes them down
    ///   - logger: is told what failed
    public init(
        _ api: API, scheme: Client.Scheme = .http, believing proxies: TrustedProxies = .onThisMachine,
        allowing origins: CORSOrigins = .none, tracer: (any Tracer)? = nil, log: (@Sendable (RequestRecord) -> Void)? = nil,
        logger: Logger
    ) {
        self.scheme = scheme
        self.proxies = proxies
        routes = RouteTable(api.routes)
        isUnavailability = api.isUnavailability
        targetLimitBytes = api.settings.targetLimitBytes
        cors = CORS(allowing: origins)
        observer = RequestObserver(
            routes: api.routes, bodyLimitBytes: api.settings.bodyLimitBytes, tracing: tracer.map(RequestTracing.init), log: log)
        self.logger = logger
    }

    public var metrics: [Metric] { observer.metrics }

    /// For those who ask without a ``ClientConnection``.
    public func respond(to request: Request, context: APIContext) async -> Response {
        Response(await answer(request, from: arrival(context.peer)))
    }

    func answer(_ request: Request, from arrival: Arrival) async -> Answer {
        let request = request.droppingFormatSuffix
        var exchange = Exchange(of: request, from: arrival, route: routes.taken(by: request.method, request.uri.path))
        let span = observer.begin(request, &exchange)
        let answer: Answer
        if let span {
            answer = await ServiceContext.withValue(span.context) { [exchange] in await self.answer(request, exchange) }
        } else {
            answer = await self.answer(request, exchange)
        }
        observer.end(request, exchange, span, answer)
        return answer
    }

    /// The same, byte for byte, where it takes no waiting and is soon done; nil where it is not: then nothing has happened yet.
    /// - Parameter head: of a request without a body
    func answerAtOnce(_ head: HTTPRequest, from arrival: Arrival) -> Answer? {
        guard let target = head.path, target.utf8.count <= targetLimitBytes else { return nil }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        guard let route = routes.taken(by: head.method, request.uri.path), let handle = routes[route].handleAtOnce else {
            return nil
        }
        var exchange = Exchange(of: request, from: arrival, route: route)
        guard var answer = try? handle(request, exchange) else { return nil }
        let span = observer.begin(request, &exchange)
        finish(&answer, request, exchange)
        observer.end(request, exchange, span, answer)
        return answer
    }

    /// What the channel answers where no route will: what is no request, came too slowly, or is more than the node can do.
    /// - Parameter head: nil where it could not be read
    func refuse(_ head: HTTPRequest?, from arrival: Arrival, _ refusal: Refusal) -> Answer {
        let request = Request(head: head ?? Self.unreadable, body: RequestBody(buffer: ByteBuffer()))
        let route = head.flatMap { routes.taken(by: $0.method, request.uri.path) }
        var exchange = Exchange(of: request, from: arrival, route: route)
        let span = observer.begin(request, &exchange)
        var answer = refusal.answer
        finish(&answer, request, exchange)
        observer.end(request, exchange, span, answer)
        return answer
    }

    private static let unreadable = HTTPRequest(method: .unreadable, scheme: nil, authority: nil, path: nil)

    func arrival(_ peer: Peer) -> Arrival { Arrival(peer, scheme, believing: proxies) }

    private func answer(_ request: Request, _ exchange: Exchange) async -> Answer {
        var answer: Answer
        do {
            if let preflight = cors.preflight(request) {
                answer = preflight
            } else {
                answer = try await routed(request, exchange)
            }
        } catch {
            answer = refusal(for: error, request, exchange).answer
        }
        finish(&answer, request, exchange)
        return answer
    }

    private func routed(_ request: Request, _ exchange: Exchange) async throws -> Answer {
        if request.head.path?.utf8.count ?? 0 > targetLimitBytes { throw Refusal.targetTooLong(limitBytes: targetLimitBytes) }
        if let route = exchange.route { return try await routes[route].handle(request, exchange) }
        let allowed = routes.methods(at: request.uri.path)
        throw allowed.isEmpty ? Refusal.notFound : Refusal.methodNotAllowed(allowed: allowed)
    }

    /// What every answer has.
    private func finish(_ answer: inout Answer, _ request: Request, _ exchange: Exchange) {
        answer.headers.append(HTTPField(name: .xRequestID, value: exchange.requestID))
        answer.mayNotBeKeptUnlessSaid()
        answer.code(for: request)
        cors.tell(&answer, request)
        if request.method == .head { answer.dropBody() }
    }

    private func refusal(for error: any Error, _ request: Request, _ exchange: Exchange) -> Refusal {
        if let refusal = error as? Refusal { return refusal }
        if let rejection = error as? EventRejection { return Refusal(rejection) }
        if let rejection = error as? AttendanceRejection { return Refusal(rejection) }
        if error is PositionNotReached { return .unavailable }
        let metadata: Logger.Metadata = [
            "request_id": "\(exchange.requestID)", "method": "\(request.method)",
            "route": "\(exchange.route.map { routes[$0].path } ?? "-")", "error": "\(error)",
        ]
        guard isUnavailability(error) else {
            logger.error("a request failed", metadata: metadata)
            return .internal
        }
        logger.warning("a request could not be served now", metadata: metadata)
        return .unavailable
    }
}

extension Request {
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

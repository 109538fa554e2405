internal import Events
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Notation
public import Telemetry

/// Answers operators and their tools, on an address that clients do not reach.
public struct AdminResponder: HTTPResponder {
    public typealias Context = BasicRequestContext

    /// The paths of probes, which know no token. Their responses name a state and nothing else.
    private static let openPaths: Set = ["/health/live", "/health/ready"]

    private let router: RouterResponder<BasicRequestContext>
    private let token: AdminToken?

    /// - Parameters:
    ///   - token: the bearer token that every path but ``openPaths`` requires; `nil` requires none
    ///   - metrics: gives the metrics that are not the API's own
    public init(_ api: API, token: AdminToken? = nil, metrics: @escaping @Sendable () async -> [Metric] = { [] }) {
        self.token = token
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("/health/live") { _, _ in Response(Answer(json: ["status": "ok"])) }
        router.get("/health/ready") { _, _ in await Response(api.health().answer) }
        router.get("/metrics") { _, _ in
            let text = await Exposition.text(of: metrics() + api.events.memoryStatus.metrics)
            return Response(
                status: .ok, headers: [.contentType: Exposition.contentType],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
        router.get("/memory/check") { _, context in
            do { return Response(Answer(json: try await api.events.examineMemory().json)) } catch {
                context.logger.warning("the memory could not be compared", metadata: ["error": "\(error)"])
                return Response(
                    Answer(
                        status: .serviceUnavailable,
                        json: ["message": .string("\(error)"), "memory": .string(api.events.memoryStatus.phase.rawValue)]))
            }
        }
        self.router = router.buildResponder()
    }

    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        if let token, !Self.openPaths.contains(request.uri.path), !token.isCarried(by: request) {
            var refusal = Response(Answer(status: .unauthorized, json: ["message": "Unauthorized"]))
            refusal.headers[.wwwAuthenticate] = "Bearer"
            return refusal
        }
        return try await router.respond(to: request, context: context)
    }
}

extension MemoryExamination {
    fileprivate var json: JSON {
        [
            "position": JSON(position), "events": JSON(events), "differing": JSON(differing),
            "differences": .array(differences.map(JSON.string)),
        ]
    }
}

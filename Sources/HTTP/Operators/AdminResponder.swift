internal import Encoding
internal import EventStore
internal import Events
public import HTTPServer
internal import HTTPTypes
public import Logging
internal import NIOCore
public import Telemetry

/// Serves operators and their tools, on an address that clients do not reach.
public struct AdminResponder: Sendable {
    public let router: Router

    /// - Parameters:
    ///   - token: the bearer token that every path requires, except the paths of probes; `nil` requires none
    ///   - metrics: all metrics except the metrics of the modules
    public init(
        _ api: API, token: SharedSecret? = nil,
        metrics: @escaping @Sendable () async -> [Metric] = { [] }, logger: Logger
    ) {
        let routes = [
            Route.immediate(.get, "/health/live") { _, _ in Response(json: ["status": "ok"]) },
            Route(.get, "/health/ready", limit: .unlimited) { _, _ in await api.health().response },
            Route(.get, "/metrics", limit: .unlimited) { _, _ in
                let text = await Exposition.text(of: metrics() + api.metrics)
                return Response(headers: [.contentType: Exposition.contentType], body: ByteBuffer(string: text))
            },
        ]
        let ofEvents = api.apps.contains(.events) ? [Self.indexCheck(api.events, logger: logger)] : []
        router = Router(
            routes: routes + ofEvents,
            middleware: [RequiredAdminToken(token: token), DefaultFields([.xContentTypeOptions: "nosniff"])], logger: logger)
    }

    /// Compares the in-memory index with the read model.
    private static func indexCheck(_ events: EventsModule, logger: Logger) -> Route {
        Route(.get, "/index/check") { _, _ in
            do {
                let verification = try await events.verifyIndex()
                let status = events.indexStatus
                return Response(
                    json: verification.json(memoryPercent: status.limit == 0 ? 0 : 100 * status.bytes / status.limit))
            } catch {
                logger.warning("the index could not be compared", metadata: ["error": "\(error)"])
                return Response(
                    status: .serviceUnavailable,
                    json: ["message": .string("\(error)"), "index": .string(events.indexStatus.phase.rawValue)])
            }
        }
    }
}

extension IndexVerification {
    fileprivate func json(memoryPercent: Int) -> JSON {
        [
            "position": JSON(cursor.position), "cursor": .string("\(cursor)"), "events": JSON(events),
            "differing": JSON(differing), "differences": .array(differences.map(JSON.string)),
            "memory_percent": JSON(memoryPercent),
        ]
    }
}

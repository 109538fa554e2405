internal import Events
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Notation

/// Answers operators and their tools, on an address that clients do not reach.
public struct AdminResponder: HTTPResponder {
    public typealias Context = BasicRequestContext

    private let router: RouterResponder<BasicRequestContext>

    public init(_ api: API) {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("/health/ready") { _, _ in await api.health().response }
        router.get("/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: api.events.memoryStatus.metrics)))
        }
        router.get("/memory/check") { _, context in
            do { return Response(json: try await api.events.examineMemory().json) } catch {
                context.logger.warning("the memory could not be compared", metadata: ["error": "\(error)"])
                return Response(
                    status: .serviceUnavailable,
                    json: ["message": .string("\(error)"), "memory": .string(api.events.memoryStatus.phase.rawValue)])
            }
        }
        self.router = router.buildResponder()
    }

    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        try await router.respond(to: request, context: context)
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

extension MemoryStatus {
    /// Source: Prometheus, *Exposition formats*, text-based format.
    var metrics: String {
        var text = ""
        func write(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: String)]) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            for (labels, value) in values { text += "\(name)\(labels) \(value)\n" }
        }
        write(
            "humon_memory_phase", "gauge", "1 for the phase that the node's memory of events is in: only in_use is read from.",
            Phase.allCases.map { (#"{phase="\#($0.rawValue)"}"#, $0 == phase ? "1" : "0") })
        write("humon_memory_events", "gauge", "Events held in memory.", [("", "\(events)")])
        write("humon_memory_bytes", "gauge", "Bytes held for them.", [("", "\(bytes)")])
        write("humon_memory_limit_bytes", "gauge", "Bytes that they may take.", [("", "\(limitBytes)")])
        write("humon_memory_position", "gauge", "Position of the log that the memory stands at.", [("", "\(position)")])
        write(
            "humon_memory_age_seconds", "gauge", "Since the memory was last known to hold all that the log has.",
            [("", "\(age / .seconds(1))")])
        write(
            "humon_reads_total", "counter", "Requests that read events, by what answered them.",
            [(#"{from="memory"}"#, "\(readsFromMemory)"), (#"{from="postgresql"}"#, "\(readsFromDatabase)")])
        return text
    }
}

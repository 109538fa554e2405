import Encoding
import Foundation
import HTTPServer
import HTTPTypes
import NIOCore
import Postgres
import Synchronization
import TestDatabase
import TestExposition
import TestHTTP
import TestServer
import Testing
import Tracing

@testable import App

/// A collector of OpenTelemetry: a server that receives spans.
private final class Collector: Sendable {
    private let received = Mutex<[JSON]>([])
    /// The status of its responses.
    let status = Mutex(HTTPResponse.Status.ok)

    /// The received bodies of OTLP.
    static func with(_ body: @Sendable (Collector, String) async throws -> Void) async throws {
        let collector = Collector()
        let route = Route.immediate(.post, "/v1/traces") { request, _ in
            guard request.headers[.contentType] == "application/json" else { return Response(status: .unsupportedMediaType) }
            let json = try JSON(utf8: Array(request.body.readableBytesView))
            let status = collector.status.withLock { $0 }
            if status == .ok { collector.received.withLock { $0.append(json) } }
            return Response(status: status)
        }
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.limits.bodyBytes = 1 << 24
        try await withoutActuallyEscaping(body) { body in
            try await Router(routes: [route], logger: .quiet).withServer(configuration) { _, port in
                try await body(collector, "http://127.0.0.1:\(port)/v1/traces")
            }
        }
    }

    var spans: [CollectedSpan] {
        received.withLock { $0 }.flatMap { request in
            request["resourceSpans"].elements.flatMap { resource in
                resource["scopeSpans"].elements.flatMap { $0["spans"].elements.map(CollectedSpan.init) }
            }
        }
    }

    /// Waits for this number of spans.
    func spans(_ count: Int) async throws -> [CollectedSpan] {
        try await eventually("\(count) spans") { spans.count >= count }
        return spans
    }
}

private struct CollectedSpan: Sendable {
    var json: JSON

    subscript(name: String) -> String? { json[name].text }

    var attributes: [String: String] {
        json["attributes"].elements.reduce(into: [:]) { attributes, attribute in
            guard let name = attribute["key"].text, case .object(let value) = attribute["value"] else { return }
            attributes[name] = value.members.first.flatMap { Optional($0.value).text }
        }
    }
}

extension JSON? {
    fileprivate var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    fileprivate var text: String? {
        switch self {
        case .string(let text), .number(let text): text
        case _: nil
        }
    }
}

@Suite struct `The traces of requests` {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let secrets = ["s3cret-of-the-app", "phone-of-somebody", "Secret party"]

    private struct Node: Sendable {
        let base: String
        let operators: String
        let database: TestDatabase

        func send(_ method: String, _ path: String, body: String = "", traceparent: String? = nil) async throws -> Int {
            var headers = [("tb-app-secret", secrets[0]), ("tb-device-token", secrets[1]), ("content-type", "application/json")]
            if let traceparent { headers += [("traceparent", traceparent), ("tracestate", "vendor=1")] }
            return try await exchange(method, base + path, headers: headers, body: body).status
        }

        func outcome(_ outcome: String) async throws -> Double? {
            try Exposed(await exchange("GET", operators + "/metrics").body)["humon_trace_spans_total{outcome=\"\(outcome)\"}"]
        }
    }

    private static func withNode(
        _ environment: [String: String], _ body: @Sendable (Node, HumonProcess) async throws -> Void
    ) async throws {
        let all = environment.merging(["TB_APP_SECRET": secrets[0]]) { $1 }
        try await HumonProcess.withServer(migrated: true, environment: all) { server, port, database in
            let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
            try await body(Node(base: "http://127.0.0.1:\(port)", operators: operators, database: database), server)
        }
    }

    private static let party = #"{"name":"Secret party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#

    @Test func `a request has a span below the caller's span, with child spans for queries and appends`() async throws {
        try await Collector.with { collector, url in
            try await Self.withNode(["HUMON_TRACES": url]) { node, _ in
                let parent = "00-\(Self.trace)-b7ad6b7169203331-01"
                #expect(try await node.send("POST", "/v1/users", traceparent: parent) == 200)
                #expect(
                    try await node.send("POST", "/v1/events?who=\(Self.secrets[1])", body: Self.party, traceparent: parent) == 200
                )
                let spans = try await collector.spans(6)
                #expect(Set(spans.map { $0["traceId"] }) == [Self.trace])
                #expect(Set(spans.map { $0["traceState"] }) == ["vendor=1"])
                #expect(Set(spans.compactMap { $0["spanId"] }).count == spans.count)
                let server = try #require(spans.first { $0["name"] == "POST /v1/events" })
                #expect((server["parentSpanId"], server["kind"]) == ("b7ad6b7169203331", "2"))
                #expect(
                    server.attributes.filter { $0.key != "user_agent.original" } == [
                        "http.request.method": "POST", "http.route": "/v1/events", "url.path": "/v1/events", "url.scheme": "http",
                        "client.address": "127.0.0.1", "http.response.status_code": "200",
                    ])
                let children = spans.filter { $0["parentSpanId"] == server["spanId"] }
                #expect(children.allSatisfy { $0["kind"] == "3" && $0.attributes["db.system.name"] == "postgresql" })
                let append = try #require(children.first { $0["name"] == "append event" })
                #expect(append.attributes["humon.log.position"] == "2")
                let query = try #require(
                    spans.first { $0.attributes["db.query.text"]?.contains("WHERE device = ANY($1)") == true })
                // One round trip checks the read model and reads the user.
                #expect(query["name"] == "BATCH")
                for span in spans {
                    let (start, end) = (try #require(span["startTimeUnixNano"]), try #require(span["endTimeUnixNano"]))
                    #expect(try #require(UInt64(start)) < #require(UInt64(end)))
                    for secret in Self.secrets { #expect(!span.json.text.contains(secret)) }
                }
                let recorded = try await node.database.withClient { client in
                    try await client.query("SELECT DISTINCT metadata::jsonb ->> 'trace_id' FROM log.recorded_events").decode(
                        String?.self)
                }
                #expect(recorded == [Self.trace])
                #expect(try await node.outcome("exported") == Double(spans.count))
            }
        }
    }

    @Test func `a request without a trace starts one, and the caller's sampling decision is obeyed`() async throws {
        try await Collector.with { collector, url in
            let environment = ["HUMON_TRACES": url, "HUMON_LOG_LEVEL": "info", "HUMON_LOG_FORMAT": "json"]
            try await Self.withNode(environment) { node, process in
                #expect(try await node.send("GET", "/nowhere", traceparent: "00-\(Self.trace)-b7ad6b7169203331-00") == 404)
                #expect(try await node.send("GET", "/nowhere") == 404)
                let spans = try await collector.spans(1)
                try #require(spans.count == 1)
                #expect((spans[0]["name"], spans[0]["parentSpanId"]) == ("GET", nil))
                #expect(spans[0].attributes["http.response.status_code"] == "404")
                let logged = try process.error.split(separator: "\n").map { try JSON(utf8: $0.utf8) }.compactMap {
                    $0["trace_id"].text
                }
                #expect(logged == [Self.trace, try #require(spans[0]["traceId"])])
            }
        }
    }

    @Test func `spans that the collector does not accept are dropped and counted, and requests do not wait`() async throws {
        try await Collector.with { collector, url in
            collector.status.withLock { $0 = .badRequest }
            try await Self.withNode(["HUMON_TRACES": url]) { node, _ in
                #expect(try await node.send("GET", "/nowhere") == 404)
                try await eventually("the span to be dropped") { try await node.outcome("dropped") ?? 0 > 0 }
                #expect(try await node.outcome("dropped") == 1)
                collector.status.withLock { $0 = .ok }
                #expect(try await node.send("GET", "/nowhere") == 404)
                #expect(try await collector.spans(1).count == 1)
            }
        }
    }

    @Test func `spans go to the log by setting, and nowhere by default`() async throws {
        try await Self.withNode(["HUMON_TRACES": "log"]) { node, process in
            #expect(try await node.send("GET", "/v1/events/7", traceparent: "00-\(Self.trace)-b7ad6b7169203331-01") == 404)
            try await eventually("the request's span") { process.error.contains("name=\"GET /v1/events/{id}\"") }
            #expect(process.error.contains(/notice span .*db\.query\.text=.*trace_id=0af7651916cd43dd8448eb211c80319c/))
            #expect(process.error.contains(/notice span .*name="GET \/v1\/events\/{id}"/))
        }
        try await Self.withNode([:]) { node, process in
            let status = try await node.send("GET", "/v1/events/7", traceparent: "00-\(Self.trace)-b7ad6b7169203331-01")
            #expect(status == 404)
            #expect(!process.error.contains(Self.trace))
        }
    }
}

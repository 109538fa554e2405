import Logging
import Telemetry
import Testing
import Tracing

@Suite struct `Choosing a destination of spans` {
    @Test(arguments: [
        ("none", Traces.none), ("log", .log),
        ("http://127.0.0.1:4318/v1/traces", .collector(url: "http://127.0.0.1:4318/v1/traces")),
        ("https://collector.example.org/v1/traces", .collector(url: "https://collector.example.org/v1/traces")),
    ])
    func `a destination is none, the log, or the URL of a collector`(text: String, destination: Traces) {
        #expect(Traces(text) == destination)
    }

    @Test(arguments: ["", "yes", "ftp://127.0.0.1/", "127.0.0.1:4318", "http://"])
    func `any other text is refused as a destination`(text: String) { #expect(Traces(text) == nil) }

    @Test func `no destination makes no tracer, and only a collector has an exporter`() {
        func output(_ traces: Traces) -> SpanOutput { SpanOutput(traces, ratio: 1, service: "tests", logger: .quiet) }
        #expect(output(.none).tracer == nil)
        #expect(output(.log).tracer != nil)
        #expect(output(.log).exporter == nil)
        #expect(output(.collector(url: "http://127.0.0.1:9/v1/traces")).exporter != nil)
    }
}

@Suite struct `Exporting spans` {
    @Test func `the exporter drops and counts every span beyond its queue limit`() {
        let exporter = SpanExporter(endpoint: "http://127.0.0.1:9/v1/traces", service: "tests", logger: .quiet)
        let tracer = SpanTracer(ratio: 1, export: exporter.add)
        for _ in 0..<SpanExporter.queueLimit + 7 { tracer.startSpan("test").end() }
        #expect(exporter.count(.dropped) == 7)
    }

    @Test func `the exporter gets no span that is not sampled`() {
        let exporter = SpanExporter(endpoint: "http://127.0.0.1:9/v1/traces", service: "tests", logger: .quiet)
        let tracer = SpanTracer(ratio: 0, export: exporter.add)
        for _ in 0..<SpanExporter.queueLimit + 7 { tracer.startSpan("test").end() }
        #expect(exporter.count(.dropped) == 0)
    }
}

extension Logger {
    fileprivate static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}

import Telemetry
import Testing

@Suite struct `Reading and writing a trace context` {
    private static let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `a trace context is read from a request header and written unchanged`() throws {
        let context = try #require(TraceContext(traceparent: Self.header))
        #expect(context.traceparent == Self.header)
        #expect(context.isSampled)
        #expect(TraceContext(traceparent: Self.header.dropLast(2) + "00")?.isSampled == false)
        // A later version of the header may append further fields.
        #expect(TraceContext(traceparent: "01" + Self.header.dropFirst(2) + "-more")?.traceIDText == context.traceIDText)
    }

    @Test(arguments: [
        "", "00", "ff" + header.dropFirst(2), header + "-more", header.uppercased(), String(header.dropLast()),
        "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    ])
    func `a text that is not a traceparent is refused`(header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test func `a child span stays in the trace of its parent`() throws {
        let parent = try #require(TraceContext(traceparent: Self.header, state: "vendor=1"))
        #expect(parent.child.traceIDText == parent.traceIDText)
        #expect(parent.child.spanID != parent.spanID)
        #expect((parent.child.isSampled, parent.child.state) == (true, "vendor=1"))
    }

    @Test(arguments: [(0.0, 0...0), (0.25, 2_200...2_800), (1.0, 10_000...10_000)])
    func `new traces are sampled at the configured ratio`(ratio: Double, expected: ClosedRange<Int>) {
        let sampled = (0..<10_000).count { _ in TraceContext(samplingRatio: ratio).isSampled }
        #expect(expected.contains(sampled))
    }
}

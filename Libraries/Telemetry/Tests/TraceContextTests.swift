import Telemetry
import TestChance
import Testing

@Suite struct `Reading a trace id` {
    private static let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let id = "0af7651916cd43dd8448eb211c80319c"

    @Test func `a trace id is read from a request header, sampled or not`() {
        #expect(TraceContext.traceID(in: Self.header) == Self.id)
        #expect(TraceContext.traceID(in: Self.header.dropLast(2) + "00") == Self.id)
        // A later version of the header may append further fields.
        #expect(TraceContext.traceID(in: "01" + Self.header.dropFirst(2) + "-more") == Self.id)
    }

    @Test(arguments: [
        "", "00", "ff" + header.dropFirst(2), header + "-more", header.uppercased(), String(header.dropLast()),
        "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    ])
    func `a text that is not a traceparent is refused`(header: String) {
        #expect(TraceContext.traceID(in: header) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a faulty header gives no id or one of 32 lowercase hexadecimal digits`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [Self.header, "cc-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff-more"]
        for _ in 0..<5_000 {
            let text = mutations.text(of: inputs)
            guard let id = TraceContext.traceID(in: text) else { continue }
            try #require(id.wholeMatch(of: /[0-9a-f]{32}/) != nil && text.contains("-\(id)-"), "\(text)")
        }
    }
}

import Telemetry
import TestChance
import Testing

@Suite struct `Reading faulty trace headers` {
    @Test(arguments: [1, 2] as [UInt64]) func `a faulty trace header reads back unchanged or is refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff-more",
        ]
        for _ in 0..<5_000 {
            let (text, state) = (mutations.text(of: inputs), mutations.text(of: ["vendor=1,other=t61rcWkgMzE"]))
            guard let context = TraceContext(traceparent: text, state: state) else { continue }
            try #require(TraceContext(traceparent: context.traceparent, state: context.state) == context, "\(text)")
            try #require(context.traceIDText.utf8.count == 32)
        }
    }
}

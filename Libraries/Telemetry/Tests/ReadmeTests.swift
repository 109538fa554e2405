import Logging
import Telemetry
import TestExposition
import Testing

@Suite struct `The example of telemetry` {
    private struct Spilt: Error {}

    @Test func `the kitchen exposes its cups and times, and logs a failure as one line of JSON`() throws {
        let pipe = Pipe()
        let kitchen = TeaKitchen(logger: Logger(label: "kitchen") { _ in LineLogHandler(.json, sink: pipe.sink) })
        kitchen.brew("mate") {}
        kitchen.brew("mate") {}
        kitchen.brew("oolong") { throw Spilt() }
        let exposed = try Exposed(kitchen.exposition)
        #expect(exposed[#"tea_cups_total{outcome="brewed"}"#] == 2)
        #expect(exposed[#"tea_cups_total{outcome="spilt"}"#] == 1)
        #expect(exposed["tea_brewing_seconds_count"] == 2)
        let line = try #require(pipe.lines().first)
        #expect(line.contains(#""message":"a cup was not brewed""#))
        #expect(line.contains(#""error":"Spilt()","tea":"oolong""#))
    }
}

import Telemetry
import TestExposition
import Testing

@Suite struct `Writing metrics for Prometheus` {
    @Test func `the exposition is these lines of Prometheus text format`() {
        let histogram = Histogram(bounds: [1, 2, 5])
        for value in [1, 2, 2, 5, 6, 100] { histogram.record(value) }
        let text = Exposition.text(of: [
            .counter("a_total", "All of them.", [(["route": "/v1/events/{id}", "status": "200"], 3)]),
            .gauge("b_seconds", "So long.", 0.25), .gauge("c", "Nothing.", []),
            .histogram("d", "By size.", histogram.snapshot),
        ])
        #expect(
            text == """
                # HELP a_total All of them.
                # TYPE a_total counter
                a_total{route="/v1/events/{id}",status="200"} 3
                # HELP b_seconds So long.
                # TYPE b_seconds gauge
                b_seconds 0.25
                # HELP c Nothing.
                # TYPE c gauge
                # HELP d By size.
                # TYPE d histogram
                d_bucket{le="1"} 1
                d_bucket{le="2"} 3
                d_bucket{le="5"} 4
                d_bucket{le="+Inf"} 6
                d_sum 116
                d_count 6

                """)
        #expect(throws: Never.self) { try Exposed(text) }
    }

    @Test func `labels and help texts are escaped`() throws {
        let text = Exposition.text(of: [.gauge("a", "A \\ and a\nline.", [(["b": "\"\\\n"], .infinity)])])
        #expect(text == "# HELP a A \\\\ and a\\nline.\n# TYPE a gauge\na{b=\"\\\"\\\\\\n\"} +Inf\n")
        #expect(try Exposed(text)[#"a{b="\"\\\n"}"#] == .infinity)
    }
}

@Suite struct `Recording a histogram` {
    @Test func `a histogram counts times in seconds, with exact bounds`() {
        let histogram = Histogram.seconds()
        histogram.record(250_000)
        histogram.record(250_001)
        let snapshot = histogram.snapshot
        #expect(snapshot.bounds[4] == 0.00025)
        #expect((snapshot.counts[4], snapshot.counts[5], snapshot.counts.reduce(0, +)) == (1, 1, 2))
        #expect(snapshot.sum == 0.000500001)
    }

    @Test func `a histogram loses no value that concurrent threads record`() async {
        let histogram = Histogram(bounds: [10, 20])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for value in 1...1_000 { histogram.record(value % 30) } } }
        }
        #expect(histogram.snapshot.counts.reduce(0, +) == 8_000)
    }
}

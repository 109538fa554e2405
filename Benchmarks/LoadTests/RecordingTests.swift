import Encoding
import Testing

@testable import LoadGenerator

@Suite struct `The recording of a load` {
    @Test func `a latency begins when the request was due, and a service time when it was sent`() {
        var recording = Recording()
        recording.responded(status: 200, due: 1_000_000, sent: 41_000_000, now: 43_000_000)
        #expect(recording.latency.mostMilliseconds == 42)
        #expect(recording.service.mostMilliseconds == 2)
    }

    /// One connection, a request each millisecond, and a pause of the server of 100 ms: without the due moments, one latency would be long.
    @Test func `a pause counts for each request that was due meanwhile`() {
        var recording = Recording()
        let schedule = Schedule(first: 0, perSecond: 1_000)
        for number in 0..<1_000 {
            let due = schedule.due(number)
            let now = (100_000_000..<200_000_000).contains(due) ? 200_000_000 : due
            recording.responded(status: 200, due: due, sent: now, now: now)
        }
        #expect(recording.latency.count == 1_000)
        #expect(abs(recording.latency.milliseconds(percentile: 95) - 50) < 1.5)
        #expect(abs(recording.latency.milliseconds(percentile: 99) - 90) < 1.5)
        #expect(recording.latency.mostMilliseconds == 100)
        #expect(recording.service.mostMilliseconds == 0)
    }

    @Test func `a refused request counts as a failure and not as a latency`() {
        var recording = Recording()
        recording.responded(status: 503, due: 0, sent: 0, now: 1)
        #expect(recording.latency.count == 0)
        #expect(recording.failures == [.status(503): 1])
    }

    @Test func `a request without a response counts with the time that it has waited`() {
        var recording = Recording()
        recording.unanswered(due: 0, now: 10_000_000_000)
        #expect(abs(recording.latency.mostMilliseconds - 10_000) < 10)
        #expect(recording.failures == [.unanswered: 1])
    }

    @Test func `a duration above the limit counts as the limit`() {
        var durations = Durations()
        durations.record(nanoseconds: .max)
        #expect(durations.count == 1)
        #expect(abs(durations.mostMilliseconds - 120_000) < 120)
    }
}

@Suite struct `The results of a load` {
    @Test func `the total of a route is the sum of its windows`() {
        let total = Self.results.routes[0].total
        #expect(total.latency.count == 4)
        #expect(total.failures == [.status(503): 2, .broken: 1])
    }

    @Test func `the table has a line for each route and says how late the generator was`() {
        #expect(
            Self.results.table == """
                | route | per s | p50 | p90 | p99 | p99.9 | most | failures |
                |---|---:|---:|---:|---:|---:|---:|---|
                | GET event, gzip | 2 | 1.0 ms | 1.0 ms | 1.0 ms | 1.0 ms | 1.0 ms | 2 503, 1 broken |

                The generator sent late by p50 0.2 ms, p90 0.2 ms, p99 0.2 ms, p99.9 0.2 ms, most 0.2 ms. It used 12.5 % of a core, \
                and waited for a core during 25.0 % of the time.
                """)
    }

    @Test func `the JSON has the same values for the total and for each window`() throws {
        let json = Self.results.json
        guard case .array(let windows)? = json["windows"], case .array(let routes)? = json["total"]?["routes"] else {
            Issue.record("no windows or routes")
            return
        }
        #expect(windows.count == 2)
        #expect(routes[0]["failures"]?.text == #"{"503":2,"broken":1}"#)
        #expect(routes[0]["latency"]?.text == #"{"count":4,"p50":1.0,"p90":1.0,"p99":1.0,"p99.9":1.0,"most":1.0}"#)
        #expect(json["total"]?["generator_waited_share"]?.text == "0.25")
    }

    @Test func `the percentile distribution has the form of HdrHistogram`() {
        let lines = Self.results.routes[0].total.latency.percentileDistribution.split(separator: "\n")
        #expect(lines.first?.split(separator: " ") == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
        #expect(lines[1].split(separator: " ") == ["1.000", "0.000000000000", "4", "1.00"])
        #expect(lines.contains { $0.hasPrefix("#[Max     =        1.000, Total count    =            4]") })
    }

    @Test func `the name of a route becomes a file name`() {
        #expect(Self.results.routes[0].fileName == "get-event-gzip")
    }

    /// Two windows of a second, each with two responses after 1 ms and a refusal; the first also with a lost connection.
    static let results: LoadResults = {
        var recording = Recording()
        for _ in 0..<2 { recording.responded(status: 200, due: 0, sent: 0, now: 1_000_000) }
        recording.failed(.status(503))
        var first = recording
        first.failed(.broken)
        var generator = GeneratorRecording()
        generator.lateness.record(nanoseconds: 200_000)
        generator.times = ThreadTimes(ran: 125_000_000, waited: 250_000_000)
        return LoadResults(
            windows: Windows(warmUp: 0, length: 1_000_000_000, count: 2), generator: [generator, generator],
            routes: [.init(name: "GET event, gzip", recordings: [first, recording])])
    }()
}

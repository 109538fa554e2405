import Logging
import Telemetry

/// A kitchen that counts its cups, measures its time, and logs its failures.
final class TeaKitchen: Sendable {
    private let cups = Counter(count: 2)
    private let times = Histogram.seconds()
    private let logger: Logger

    init(logger: Logger = Logger(label: "kitchen") { _ in LineLogHandler(.json) }) { self.logger = logger }

    func brew(_ tea: String, _ work: () throws -> Void) {
        let stopwatch = Stopwatch()
        do {
            try work()
            cups.add(at: 0)
            times.record(stopwatch.nanoseconds)
        } catch {
            cups.add(at: 1)
            logger.error("a cup was not brewed", metadata: ["tea": "\(tea)", "error": "\(error)"])
        }
    }

    /// The response to `GET /metrics`.
    var exposition: String {
        let outcomes: [(Labels, Double)] = [(["outcome": "brewed"], Double(cups[0])), (["outcome": "spilt"], Double(cups[1]))]
        return Exposition.text(of: [
            .counter("tea_cups_total", "Cups, by outcome.", outcomes),
            .histogram("tea_brewing_seconds", "Time to brew a cup.", times.snapshot),
        ])
    }
}

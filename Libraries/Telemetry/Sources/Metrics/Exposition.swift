/// Metrics as Prometheus reads them. Source: Prometheus, *Exposition formats*, text-based format, version 0.0.4.
public enum Exposition {
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// - Parameter metrics: each name occurs once
    public static func text(of metrics: [Metric]) -> String {
        var text = ""
        for metric in metrics {
            let help = metric.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
            text += "# HELP \(metric.name) \(help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for (labels, value) in metric.samples {
                switch value {
                case .number(let number): write(metric.name, labels.text, number, into: &text)
                case .snapshot(let snapshot): write(metric.name, labels.text, snapshot, into: &text)
                }
            }
        }
        return text
    }

    private static func write(_ name: String, _ labels: String, _ snapshot: HistogramSnapshot, into text: inout String) {
        var sum = 0
        for (bound, count) in zip(snapshot.bounds + [.infinity], snapshot.counts) {
            sum += count
            let bucket = (labels.isEmpty ? "" : labels + ",") + "le=\"\(numeral(bound))\""
            write(name + "_bucket", bucket, Double(sum), into: &text)
        }
        write(name + "_sum", labels, snapshot.sum, into: &text)
        write(name + "_count", labels, Double(sum), into: &text)
    }

    private static func write(_ name: String, _ labels: String, _ value: Double, into text: inout String) {
        text += labels.isEmpty ? "\(name) \(numeral(value))\n" : "\(name){\(labels)} \(numeral(value))\n"
    }

    private static func numeral(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        guard value.isFinite else { return value > 0 ? "+Inf" : "-Inf" }
        return Int(exactly: value).map(String.init) ?? value.description
    }
}

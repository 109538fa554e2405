/// The body of a `/metrics` response, parsed strictly: a text that Prometheus would refuse or guess at is an error.
/// Source: Prometheus, *Exposition formats*, text-based format, version 0.0.4, and its naming conventions.
public struct Exposed: Sendable {
    public struct Unreadable: Error, CustomStringConvertible {
        public var reason: String
        public var line: String
        public var description: String { "\(reason): \(line)" }
    }

    public struct Metric: Sendable {
        public var help: String
        public var kind: String
    }

    public private(set) var metrics: [String: Metric] = [:]
    /// Samples by name and labels as written: `humon_index_reads_total{from="index"}`.
    public private(set) var samples: [String: Double] = [:]
    private var names: [String] = []

    public init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Unreadable(reason: "the last line has no end", line: String(text.suffix(80))) }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) { try read(String(line)) }
        try checkHistograms()
    }

    /// The value of a sample; nil if the sample is missing.
    public subscript(sample: String) -> Double? { samples[sample] }

    /// The sum of all samples with this name.
    public func sum(_ name: String) -> Double {
        samples.filter { $0.key == name || $0.key.hasPrefix(name + "{") }.values.reduce(0, +)
    }

    private mutating func read(_ line: String) throws {
        if let help = line.wholeMatch(of: /# HELP ([a-z][a-z0-9_]*) ([A-Z0-9].*\.)/) {
            let name = String(help.1)
            guard metrics[name] == nil else { throw Unreadable(reason: "told twice", line: line) }
            metrics[name] = Metric(help: String(help.2), kind: "")
            names.append(name)
        } else if let type = line.wholeMatch(of: /# TYPE ([a-z][a-z0-9_]*) (gauge|counter|histogram)/) {
            guard names.last == String(type.1), metrics[String(type.1)]?.kind == "" else {
                throw Unreadable(reason: "the type does not follow its help", line: line)
            }
            guard (type.2 == "counter") == type.1.hasSuffix("_total") else {
                throw Unreadable(reason: "counters alone end in _total", line: line)
            }
            metrics[String(type.1)]?.kind = String(type.2)
        } else {
            try readSample(line)
        }
    }

    private mutating func readSample(_ line: String) throws {
        let label = #/[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"/#
        guard let sample = line.wholeMatch(of: #/([a-z][a-z0-9_]*)(?:\{(.+)\})? ([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|Inf)|NaN)/#),
            let value = Double(sample.3.replacing("Inf", with: "inf")), let metric = names.last
        else { throw Unreadable(reason: "no sample", line: line) }
        let suffixes = metrics[metric]?.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { metric + $0 == sample.1 }) else {
            throw Unreadable(reason: "not below its own type", line: line)
        }
        if let labels = sample.2 {
            var rest = labels
            while let found = rest.prefixMatch(of: label) {
                rest = rest[found.range.upperBound...]
                if rest.first == ",", rest.count > 1 { rest = rest.dropFirst() }
            }
            guard rest.isEmpty else { throw Unreadable(reason: "unusable labels", line: line) }
        }
        let key = String(line.prefix(line.count - sample.3.count - 1))
        guard samples.updateValue(value, forKey: key) == nil else { throw Unreadable(reason: "told twice", line: line) }
    }

    /// The buckets rise up to `+Inf`, which equals the count.
    private func checkHistograms() throws {
        for (name, metric) in metrics where metric.kind == "histogram" {
            var buckets: [String: [(bound: Double, count: Double)]] = [:]
            for (key, count) in samples where key.hasPrefix(name + "_bucket{") {
                guard let match = key.wholeMatch(of: #/[a-z_]+\{(.*?),?le="([^"]+)"\}/#),
                    let bound = Double(match.2.replacing("Inf", with: "inf"))
                else { throw Unreadable(reason: "a bucket without a bound", line: key) }
                buckets[String(match.1), default: []].append((bound, count))
            }
            for (labels, found) in buckets {
                let counts = found.sorted { $0.bound < $1.bound }
                let total = samples[name + "_count" + (labels.isEmpty ? "" : "{\(labels)}")]
                guard counts.last?.bound == .infinity, counts.last?.count == total,
                    zip(counts, counts.dropFirst()).allSatisfy({ $0.count <= $1.count && $0.bound < $1.bound }),
                    samples[name + "_sum" + (labels.isEmpty ? "" : "{\(labels)}")] != nil
                else { throw Unreadable(reason: "buckets that do not add up", line: "\(name){\(labels)}") }
            }
        }
    }
}

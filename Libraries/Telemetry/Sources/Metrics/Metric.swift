internal import Encoding

/// A metric with its present values.
public struct Metric: Sendable {
    public enum Kind: String, Sendable {
        /// The value only rises while the process runs.
        case counter
        case gauge
        case histogram
    }

    enum Value: Sendable {
        case number(Double)
        case snapshot(HistogramSnapshot)
    }

    public let name: String
    public let kind: Kind
    /// The meaning of the metric, in one sentence.
    public let help: String
    let samples: [(Labels, Value)]

    public static func gauge(_ name: String, _ help: String, _ value: Double) -> Metric {
        gauge(name, help, [(Labels(), value)])
    }

    public static func gauge(_ name: String, _ help: String, _ samples: [(Labels, Double)]) -> Metric {
        Metric(name: name, kind: .gauge, help: help, samples: samples.map { ($0, .number($1)) })
    }

    public static func counter(_ name: String, _ help: String, _ value: Double) -> Metric {
        counter(name, help, [(Labels(), value)])
    }

    public static func counter(_ name: String, _ help: String, _ samples: [(Labels, Double)]) -> Metric {
        Metric(name: name, kind: .counter, help: help, samples: samples.map { ($0, .number($1)) })
    }

    public static func histogram(_ name: String, _ help: String, _ snapshot: HistogramSnapshot) -> Metric {
        histogram(name, help, [(Labels(), snapshot)])
    }

    public static func histogram(_ name: String, _ help: String, _ samples: [(Labels, HistogramSnapshot)]) -> Metric {
        Metric(name: name, kind: .histogram, help: help, samples: samples.map { ($0, .snapshot($1)) })
    }
}

/// The labels that distinguish the samples of one metric.
public struct Labels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// `route="/v1/users",status="200"`
    let text: String

    public init() { text = "" }

    public init(dictionaryLiteral elements: (String, String)...) {
        text = elements.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        value.escaping { byte in
            switch byte {
            case UInt8(ascii: "\\"): #"\\"#
            case UInt8(ascii: "\""): #"\""#
            case UInt8(ascii: "\n"): #"\n"#
            case _: nil
            }
        }
    }
}

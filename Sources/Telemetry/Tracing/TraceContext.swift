/// Which trace a span belongs to, and whether it is to be told. Source: W3C *Trace Context*.
public struct TraceContext: Sendable, Hashable {
    private var high: UInt64
    private var low: UInt64
    public var spanID: UInt64
    public var isSampled: Bool
    /// What other vendors carry along; handed on as it came.
    public var state: String?

    /// As much as everybody must hand on; more may be dropped. Source: section 3.3.1.5.
    private static let stateLimitBytes = 512

    /// The first of a new trace.
    public init(samplingRatio: Double) {
        (high, low) = (UInt64.random(in: 1 ... .max), UInt64.random(in: 1 ... .max))
        spanID = UInt64.random(in: 1 ... .max)
        // By the id, so that every service that knows the ratio decides alike.
        isSampled = Double(low >> 1) < samplingRatio * Double(UInt64(1) << 63)
    }

    /// nil for what is none.
    public init?(traceparent: String, state: String? = nil) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4,
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && $0.utf8.allSatisfy(\.isLowerHexadecimal) }),
            parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16),
            let spanID = UInt64(parts[2], radix: 16), let flags = UInt8(parts[3], radix: 16), high | low != 0, spanID != 0
        else { return nil }
        (self.high, self.low, self.spanID) = (high, low, spanID)
        isSampled = flags & 1 == 1
        self.state = state.flatMap { $0.utf8.count <= Self.stateLimitBytes ? $0 : nil }
    }

    /// Of a span below this one.
    public var child: TraceContext {
        var child = self
        child.spanID = UInt64.random(in: 1 ... .max)
        return child
    }

    public var traceparent: String { "00-\(traceIDText)-\(Self.text(spanID))-\(isSampled ? "01" : "00")" }

    public var traceIDText: String { Self.text(high) + Self.text(low) }
    public var spanIDText: String { Self.text(spanID) }

    public static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}

public import Tracing

/// The trace that a span belongs to, and whether the span is exported. Source: W3C *Trace Context*.
public struct TraceContext: Sendable, Hashable {
    private var high: UInt64
    private var low: UInt64
    public var spanID: UInt64
    public var isSampled: Bool
    /// The value of `tracestate`, which belongs to other vendors and is passed on unchanged.
    public var state: String?

    /// Maximum size of `tracestate` that a vendor must pass on; a longer value may be dropped. Source: section 3.3.1.5.
    private static let stateLimitBytes = 512

    /// Makes the first span of a new trace.
    /// - Parameter samplingRatio: share of new traces that are sampled, from 0 to 1
    public init(samplingRatio: Double) {
        (high, low) = (UInt64.random(in: 1 ... .max), UInt64.random(in: 1 ... .max))
        spanID = UInt64.random(in: 1 ... .max)
        // The id decides, so that every service with the same ratio makes the same decision.
        isSampled = Double(low >> 1) < samplingRatio * Double(UInt64(1) << 63)
    }

    /// Reads the headers of a request.
    /// - Returns: nil if `traceparent` is malformed
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

    /// The context of a new child span.
    public var child: TraceContext {
        var child = self
        child.spanID = UInt64.random(in: 1 ... .max)
        return child
    }

    /// The value of the header `traceparent`.
    public var traceparent: String { "00-\(traceIDText)-\(Self.text(spanID))-\(isSampled ? "01" : "00")" }

    /// 32 lowercase hexadecimal digits.
    public var traceIDText: String { Self.text(high) + Self.text(low) }
    /// 16 lowercase hexadecimal digits.
    public var spanIDText: String { Self.text(spanID) }

    static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ServiceContext {
    private enum Key: ServiceContextKey {
        typealias Value = TraceContext
        static var nameOverride: String? { "trace-context" }
    }

    /// nil outside of any trace.
    public var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}

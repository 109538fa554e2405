internal import Encoding

/// The trace that a request belongs to. Source: W3C *Trace Context*.
public enum TraceContext {
    /// The trace id in a value of the header `traceparent`: 32 lowercase hexadecimal digits.
    /// - Returns: `nil` if the value is malformed
    public static func traceID(in traceparent: String) -> String? {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4,
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.isHexadecimal(digits: $1) }),
            // A later version may append further fields.
            parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            // Ids of zeros are invalid.
            parts[1...2].allSatisfy({ $0.contains(where: { $0 != "0" }) })
        else { return nil }
        return String(parts[1])
    }
}

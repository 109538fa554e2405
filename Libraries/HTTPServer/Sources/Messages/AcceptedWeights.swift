internal import Encoding

/// The weights in a field such as `Accept`, from 0 (not accepted) to 1, by name. Source: RFC 9110, section 12.4.2.
struct AcceptedWeights {
    /// Maximum number of members that are read. They are read on the event loop, and a field of 32 KB has room for 16,000.
    private static let memberLimit = 64

    private var weights: [String: Double] = [:]

    /// Ignores members with a weight that cannot be read, and members beyond the limit.
    init(_ header: String?) {
        for member in (header ?? "").parts(separatedBy: ",", atMost: Self.memberLimit + 1).prefix(Self.memberLimit) {
            let parts = String(member).parts(separatedBy: ";", atMost: Self.memberLimit).map { $0.trimmingSpaces.lowercased() }
            guard let name = parts.first, let weight = Self.weight(parts.dropFirst()) else { continue }
            weights[name] = weight
        }
    }

    /// - Parameter name: in lower case
    /// - Returns: `nil` if the field does not have the name
    subscript(name: String) -> Double? { weights[name] }

    /// - Returns: `nil` for a text that is not a weight
    private static func weight(_ parameters: ArraySlice<String>) -> Double? {
        guard let parameter = parameters.first(where: { $0.hasPrefix("q=") }) else { return 1 }
        return Double(parsing: String(parameter.dropFirst(2))).flatMap { (0...1).contains($0) ? $0 : nil }
    }
}

internal import Encoding

/// The weights in a field such as `Accept`, from 0 (not accepted) to 1, by name. Source: RFC 9110, section 12.4.2.
struct AcceptedWeights {
    /// Maximum number of members that are read. They are read on the event loop, and a field of 32 KB has room for 16,000.
    private static let memberLimit = 64

    /// In the order of the field.
    private var members: [(name: String, weight: Double)] = []

    /// Ignores members with a weight that cannot be read, and members beyond the limit.
    init(_ header: String?) {
        for member in (header ?? "").parts(separatedBy: ",", atMost: Self.memberLimit + 1).prefix(Self.memberLimit) {
            let parts = String(member).parts(separatedBy: ";", atMost: Self.memberLimit).map { $0.trimmingSpaces.lowercased() }
            guard let name = parts.first, let weight = Self.weight(parts.dropFirst()) else { continue }
            members.append((name, weight))
        }
    }

    /// - Parameter name: in lower case
    /// - Returns: `nil` if the field does not have the name; the last weight if it has it several times
    subscript(name: String) -> Double? { members.last { $0.name == name }?.weight }

    /// The language with the highest weight; of equal ones the first of the field. A range stands for its language, `de-AT` for `de`, and
    /// `*` for the first language that no range names. Source: RFC 9110, section 12.5.4; RFC 4647, section 3.4.
    /// - Parameter languages: in lower case
    func preferredLanguage(of languages: [String]) -> String? {
        let named = members.map { member in languages.first { member.name == $0 || member.name.hasPrefix("\($0)-") } }
        let rest = languages.first { !named.contains($0) }
        var best: (language: String, weight: Double)?
        for (member, language) in zip(members, named) {
            guard let language = language ?? (member.name == "*" ? rest : nil) else { continue }
            if member.weight > best?.weight ?? 0 { best = (language, member.weight) }
        }
        return best?.language
    }

    /// - Returns: `nil` for a text that is not a weight
    private static func weight(_ parameters: ArraySlice<String>) -> Double? {
        guard let parameter = parameters.first(where: { $0.hasPrefix("q=") }) else { return 1 }
        return Double(parsing: String(parameter.dropFirst(2))).flatMap { (0...1).contains($0) ? $0 : nil }
    }
}

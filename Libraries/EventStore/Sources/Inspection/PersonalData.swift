public import Encoding

/// Decides which stored data a command may show.
public struct PersonalData: Sendable {
    /// The value that replaces a hidden value.
    public static let hidden: JSON = "(hidden)"

    private let members: [String: Set<String>]
    private let types: [String: Set<String>]
    private let isRevealed: Bool

    /// - Parameters:
    ///   - domainEvents: the domain events of all modules
    ///   - isRevealed: whether the operator asked to see personal data
    public init(of domainEvents: [any DomainEvent.Type], isRevealed: Bool) {
        members = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0.personalFields) })
        types = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, Set($0.storedTypes.map(\.name))) })
        self.isRevealed = isRevealed
    }

    /// Returns the data with its personal fields hidden. If the type is unknown, all fields are hidden.
    public func shown(_ data: JSON, type: String, category: String) -> JSON {
        guard !isRevealed else { return data }
        let isKnown = types[category]?.contains(type) == true
        return shown(data) { isKnown && members[category]?.contains($0) == false }
    }

    /// Returns a state, made of several domain events of a category, with its personal fields hidden.
    public func shown(_ state: JSON, category: String) -> JSON {
        guard !isRevealed else { return state }
        return shown(state) { members[category]?.contains($0) == false }
    }

    /// Shows null, because a missing value is not personal data.
    private func shown(_ data: JSON, where isPublic: (String) -> Bool) -> JSON {
        guard case .object(let object) = data else { return Self.hidden }
        return .object(
            JSONObject(
                members: object.members.map { member in
                    let isShown = member.value == .null || isPublic(member.name)
                    return JSONObject.Member(name: member.name, value: isShown ? member.value : Self.hidden)
                }
            )
        )
    }
}

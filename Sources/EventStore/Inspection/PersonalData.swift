public import Encoding

/// What of stored data may be shown to whoever is at the screen.
public struct PersonalData: Sendable {
    /// Stands in the place of a value that is not shown.
    public static let hidden: JSON = "(hidden)"

    private let members: [String: Set<String>]
    private let types: [String: Set<String>]
    private let isRevealed: Bool

    /// - Parameters:
    ///   - domainEvents: of all modules
    ///   - isRevealed: somebody asked to see everything
    public init(of domainEvents: [any DomainEvent.Type], isRevealed: Bool) {
        members = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0.personalFields) })
        types = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, Set($0.storedTypes.map(\.name))) })
        self.isRevealed = isRevealed
    }

    /// The data with its personal fields hidden. Where nobody knows what the members mean, all are.
    public func shown(_ data: JSON, type: String, category: String) -> JSON {
        guard !isRevealed else { return data }
        let isKnown = types[category]?.contains(type) == true
        return shown(data) { isKnown && members[category]?.contains($0) == false }
    }

    /// The same for what was put together from several domain events of a category.
    public func shown(_ state: JSON, category: String) -> JSON {
        guard !isRevealed else { return state }
        return shown(state) { members[category]?.contains($0) == false }
    }

    /// That there is no value is shown: it is nobody's.
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

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
        members = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0.personal.names) })
        types = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, Set($0.storedTypes.map(\.name))) })
        self.isRevealed = isRevealed
    }

    /// The value that replaces all personal members after an erasure.
    static let erased: JSON = "(erased)"

    /// Returns facts and personal members together, the personal ones hidden. If the type is unknown, all members are hidden. After an
    /// erasure, one member says so.
    func shown(_ event: StoredEvent, category: String) -> JSON {
        let facts = JSON(readable: event.facts)
        switch event.personal {
        case nil: return shown(facts, type: event.type, category: category)
        case .present(let personal):
            let content = EventContent(facts, personal: .present(JSON(readable: personal)))
            return shown(content.all, type: event.type, category: category)
        case .erased:
            guard case .object(let object) = shown(facts, type: event.type, category: category) else { return Self.erased }
            return .object(JSONObject(members: object.members + [.init(name: "personal", value: Self.erased)]))
        }
    }

    private func shown(_ data: JSON, type: String, category: String) -> JSON {
        guard !isRevealed else { return data }
        let isKnown = types[category]?.contains(type) == true
        return shown(data) { isKnown && members[category]?.contains($0) == false }
    }

    /// Returns a state, made of several domain events of a category, with its personal members hidden.
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

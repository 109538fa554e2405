package import Encoding

/// Decides which stored data a command may show.
package struct Redaction: Sendable {
    /// The value that replaces a hidden value.
    package static let hidden: JSON = "(hidden)"
    /// The value that replaces all personal members after an erasure.
    static let erased: JSON = "(erased)"

    private let domainEvents: [String: any DomainEvent.Type]
    private let isRevealed: Bool

    /// - Parameters:
    ///   - domainEvents: the domain events of all modules
    ///   - isRevealed: whether the operator asked to see personal data
    package init(of domainEvents: [any DomainEvent.Type], isRevealed: Bool) {
        self.domainEvents = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
        self.isRevealed = isRevealed
    }

    /// Returns facts and personal members together, the personal ones hidden. If the type is unknown, all members are hidden. After
    /// an erasure, one member says so.
    package func shown(_ event: StoredEvent, category: String) -> JSON {
        var content = EventContent(JSON(readable: event.facts))
        if case .present(let personal) = event.personal { content.personal = .present(JSON(readable: personal)) }
        guard case .object(let object) = content.all else {
            return event.personal == .erased ? Self.erased : isRevealed ? content.all : Self.hidden
        }
        let isKnown = domainEvents[category]?.storedTypes.contains { $0.name == event.type } == true
        var shown = shown(object, category: isKnown ? category : nil)
        if event.personal == .erased { shown["personal"] = Self.erased }
        return .object(shown)
    }

    /// Returns the members of a category with the personal ones hidden. Null stays, because a missing value is not personal data.
    /// - Parameter category: nil hides all members
    package func shown(_ data: JSONObject, category: String?) -> JSONObject {
        guard !isRevealed else { return data }
        let personal = category.flatMap { domainEvents[$0] }?.personal.names
        return JSONObject(
            members: data.members.map { member in
                let isShown = member.value == .null || personal?.contains(member.name) == false
                return JSONObject.Member(name: member.name, value: isShown ? member.value : Self.hidden)
            })
    }
}

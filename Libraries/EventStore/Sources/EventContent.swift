public import Encoding

/// The personal members of a domain event, or the note that they were erased. A fold reads them by a `switch`, so that no fold forgets
/// the people who asked to be forgotten.
public enum Personal<Value> {
    case present(Value)
    case erased

    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Personal<Other> {
        switch self {
        case .present(let value): .present(try transform(value))
        case .erased: .erased
        }
    }
}

extension Personal: Sendable where Value: Sendable {}
extension Personal: Equatable where Value: Equatable {}
extension Personal: Hashable where Value: Hashable {}

/// What the log has of a domain event: facts, which stay for ever, and personal members, which an erasure ends.
public struct EventContent: Sendable, Hashable {
    /// A JSON object.
    public var facts: JSON
    /// A JSON object; `nil` if the domain event never had personal members.
    public var personal: Personal<JSON>?

    public init(_ facts: JSON, personal: Personal<JSON>? = nil) {
        self.facts = facts
        self.personal = personal
    }

    /// Reads the personal members of a type that always has some.
    /// - Throws: ``FormatError`` if there never were any; what `read` throws
    public func readPersonal<Value>(_ read: (JSON) throws -> Value) throws -> Personal<Value> {
        guard let personal else { throw FormatError("no personal members in the stored data") }
        return try personal.map(read)
    }

    /// - Throws: `JSON.ParseError`
    init(_ event: StoredEvent) throws {
        facts = try JSON(utf8: event.facts)
        personal = try event.personal?.map { try JSON(utf8: $0) }
    }

    /// Takes facts and personal members apart.
    init(all data: JSON, personalMembers: Set<String>) {
        guard !personalMembers.isEmpty, case .object(let object) = data else {
            self.init(data)
            return
        }
        let own = object.members.filter { personalMembers.contains($0.name) }
        guard !own.isEmpty else {
            self.init(data)
            return
        }
        let facts = object.members.filter { !personalMembers.contains($0.name) }
        self.init(.object(JSONObject(members: facts)), personal: .present(.object(JSONObject(members: own))))
    }

    /// Facts and personal members together.
    var all: JSON {
        guard case .present(.object(let own)) = personal, case .object(let object) = facts else { return facts }
        return .object(JSONObject(members: object.members + own.members))
    }
}

extension StoredEvent {
    /// Whether personal members stand among the facts, where no erasure ends them.
    func hasPersonalFacts(_ personalMembers: Set<String>) throws -> Bool {
        guard !personalMembers.isEmpty else { return false }
        return try EventContent(all: JSON(utf8: facts), personalMembers: personalMembers).personal != nil
    }
}

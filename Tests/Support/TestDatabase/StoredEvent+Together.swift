internal import Encoding
public import EventStore

extension StoredEvent {
    /// Makes a stored domain event whose facts and personal members a test writes down as one object. The log has them apart.
    /// - Parameter data: other data than an object become facts
    public init(type: String, format: Int16, together data: [UInt8], of domainEvent: any DomainEvent.Type) {
        self.init(type: type, format: format, facts: data)
        guard case .object(let object)? = try? JSON(utf8: data) else { return }
        func part(isPersonal: Bool) -> [JSONObject.Member] {
            object.members.filter { domainEvent.personal.names.contains($0.name) == isPersonal }
        }
        let own = part(isPersonal: true)
        guard !own.isEmpty else { return }
        facts = JSON.object(JSONObject(members: part(isPersonal: false))).utf8
        personal = .present(JSON.object(JSONObject(members: own)).utf8)
    }
}

extension DomainEvent {
    /// - Throws: `FormatError`
    public static func decode(_ type: String, format: Int16 = 1, together data: [UInt8]) throws -> Self {
        try decode(StoredEvent(type: type, format: format, together: data, of: Self.self))
    }
}

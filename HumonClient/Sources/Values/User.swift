/// A person, whom a device identifies.
public struct User: Sendable, Hashable, Identifiable, Codable {
    public typealias ID = Identifier<User>

    /// The same number everywhere, also in `Event.owner`.
    public var id: ID

    public init(id: ID) { self.id = id }
}

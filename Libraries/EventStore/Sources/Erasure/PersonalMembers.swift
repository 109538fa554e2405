public import Postgres

/// The members of a category's stored data that tell about a person, and whose they are. The log stores them beside the facts, and the
/// erasure of the person ends them. docs/decisions/0059-personal-members.md
public struct PersonalMembers: Sendable {
    /// Members of any format: every word that a person wrote, every place, every address and digest of a secret.
    public let names: Set<String>
    /// How to find the streams of the category that belong to a person of another category.
    let streams: PersonalStreams?
    /// Whether each stream of the category is a person.
    let isPerson: Bool

    /// The streams of the category tell nothing about a person.
    public static let none = PersonalMembers(names: [], streams: nil, isPerson: false)

    /// Each stream of the category is a person, such as `user-7`.
    public static func ofThePerson(_ names: Set<String>) -> PersonalMembers {
        PersonalMembers(names: names, streams: nil, isPerson: true)
    }
}

extension PersonalMembers {
    /// - Parameter streams: finds the streams of the category that belong to a person of another category. Streams can belong to a person
    ///   without any personal members.
    public init(_ names: Set<String>, of streams: PersonalStreams) {
        self.init(names: names, streams: streams, isPerson: false)
    }
}

/// The streams of one category that belong to a person of another category. The erasure of the person ends them, too.
public struct PersonalStreams: Sendable {
    public typealias Find = @Sendable (_ person: Int64, _ database: PostgresClient) async throws -> [PersonalStream]

    /// The category of the streams of the persons, such as `user`.
    let category: String
    let find: Find

    /// - Parameters:
    ///   - category: the category of the streams of the persons, such as `user`
    ///   - find: finds the streams of a person, also those that no list shows any more. It may find erased ones, too. Throws
    ///     `ReadModelError.behind`, `PostgresError`
    public init(of category: String, find: @escaping Find) {
        self.category = category
        self.find = find
    }
}

/// One stream, and the domain event that ends it.
public struct PersonalStream: Sendable {
    public var name: StreamName
    /// Its stored name is that of the category and `Erased`, such as `EventErased`.
    var erasure: any DomainEvent

    public init(_ name: StreamName, endsWith erasure: any DomainEvent) {
        self.name = name
        self.erasure = erasure
    }
}

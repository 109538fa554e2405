public import Postgres

/// The streams of one module that tell about a person, besides the stream of the person. The erasure of the person ends them, too.
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

public import EventStore
public import Events
internal import Postgres
public import Users

extension StoredModule {
    /// Comments on events.
    package static let comments = StoredModule(
        "comments", domainEvents: [CommentDomainEvent.self], projections: [CommentsProjection()])
}

/// A comment as the API shows it.
public struct Comment: Sendable, Hashable {
    /// From 1, for each author of comments on the event.
    public var number: Int32
    public var author: UserID
    public var text: String
}

/// Adds and lists comments.
public struct CommentsModule: Sendable {
    /// The largest number of comments in one list.
    public static let maximumLimit: Int64 = 1_000

    /// What a user wrote about any event.
    static let ofAuthor = PersonalStreams(of: UserDomainEvent.category) { author, database in
        try await StateReader(of: CommentsProjection(), client: database).rows(
            "SELECT DISTINCT event_id FROM \(identifier: CommentsProjection.schema).comments WHERE author_id = \(author)"
        ).decode(Int64.self).map { event in
            let comments = CommentStream(event: EventID(rawValue: event), author: UserID(rawValue: author))
            return PersonalStream(comments.name, endsWith: CommentDomainEvent.erased)
        }
    }

    private let database: PostgresClient
    private let commands: CommandHandler
    private let events: EventsModule

    package init(_ composition: Composition) {
        database = composition.database
        commands = CommandHandler(composition, state: StateReader(of: CommentsProjection(), client: composition.database))
        events = composition[EventsModule.self]
    }

    /// Adds a comment to an event.
    /// - Returns: the number of the comment, and the position at which it is recorded
    /// - Throws: ``CommentRejection``, and the errors of `CommandHandler.handle(_:by:_:)`
    public func add(_ text: String, to event: EventID, by author: UserID, context: CommandContext) async throws -> (
        number: Int32, position: Int64
    ) {
        let comments = CommentStream(event: event, author: author)
        let place = try await commands.handle(context, by: author.stream) {
            let added = try decideComment(text, eventExists: try await events.event(event)?.isLive == true)
            return Decision(added, to: comments.name, after: try await count(comments), by: author.rawValue)
        }.place
        return (place.version, place.position)
    }

    /// The first comments on an event, ``maximumLimit`` at most, in the order in which they were added.
    /// - Throws: `PostgresError`
    public func comments(on event: EventID) async throws -> [Comment] {
        try await database.query(
            """
            SELECT number, author_id, text FROM \(identifier: CommentsProjection.schema).comments
            WHERE event_id = \(event.rawValue) ORDER BY recorded_at, author_id, number LIMIT \(Self.maximumLimit)
            """
        ).decode((Int32, Int64, String).self).map { number, author, text in
            Comment(number: number, author: UserID(rawValue: author), text: text)
        }
    }

    private func count(_ comments: CommentStream) async throws -> Int32 {
        try await database.query(
            """
            SELECT coalesce(max(number), 0) FROM \(identifier: CommentsProjection.schema).comments
            WHERE event_id = \(comments.event.rawValue) AND author_id = \(comments.author.rawValue)
            """
        ).decode(Int32.self).first ?? 0
    }
}

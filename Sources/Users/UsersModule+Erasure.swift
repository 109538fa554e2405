public import EventStore
internal import Foundation
internal import Postgres

extension UsersModule {
    /// Erases a user, who is forgotten from then on: the token, all events and attendances of the user, and every word in them, in the log
    /// and in the read models. Facts stay: that there was a user, and when.
    /// - Parameter actor: the user who asked; `nil` for an operator
    /// - Returns: as `PersonErasures.erase(_:with:by:_:_:)`
    /// - Throws: the errors of `PersonErasures.erase(_:with:by:_:_:)`
    public func erase(_ id: UserID, by actor: UserID?, context: CommandContext) async throws -> (
        erasure: PersonErasure, wasErased: Bool
    ) {
        try await erasures.erase(id.stream, with: UserDomainEvent.erased, by: actor?.rawValue, commands, context)
    }

    /// Whether the user of a token is erased.
    /// - Returns: `nil` if the user is not erased, or the token was never known
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    public func erasure(of token: DeviceToken) async throws -> PersonErasure? {
        guard let user = try await holder(of: token) else { return nil }
        return try await erasures.erasure(of: user.stream)
    }

    /// The user who has a token, or had it before. The domain event that brought the token has an id that derives from it, and an erasure
    /// keeps this id.
    func holder(of token: DeviceToken) async throws -> UserID? {
        guard token.isWellFormed else { return nil }
        let id = try await domainEventID(of: token)
        return try await LogReader(client: database).streams(of: [id])[id].flatMap { UserID(stream: $0) }
    }
}

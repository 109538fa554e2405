public import EventStore
internal import Postgres

extension UsersModule {
    /// How long a request waits for the end of an erasure.
    public static let erasureSeconds = 10.0

    /// Erases a user, who is forgotten from then on: the token, all events and attendances of the user, and every word in them, in the log
    /// and in the read models. Facts stay: that there was a user, and when. A repetition changes nothing.
    ///
    /// The token is dead when the append is recorded. The subscription ``EventStore/Erasure`` does the rest, for which this function waits.
    /// - Parameter actor: the user who asked; `nil` for an operator
    /// - Returns: a position from which on the token is dead, whether the user was erased before, and a position from which on nothing of the
    ///   user is left; `nil` if something is, which ends later
    /// - Throws: ``UserRejection/unknownUser``, and the errors of `CommandHandler.handle(_:by:_:)`
    public func erase(_ id: UserID, by actor: UserID?, context: CommandContext) async throws -> (
        position: Int64, wasErased: Bool, end: Int64?
    ) {
        var wasErased = false
        let place = try await commands.handle(context) {
            let last = try await last(of: id)
            wasErased = last.event == .erased
            return Decision(wasErased ? nil : UserDomainEvent.erased, to: id.stream, after: last.version, by: actor?.rawValue)
        }.place
        // A repetition is answered by the end of the log.
        let erasedAt = try await LogReader(client: database).newest(of: id.stream)?.position ?? place.position
        return (erasedAt, wasErased, try await erasures.end(of: id.stream, at: erasedAt, within: .seconds(Self.erasureSeconds)))
    }

    private func last(of id: UserID) async throws -> EventEnvelope<UserDomainEvent> {
        guard let last = try await LogReader(client: database).newest(of: id.stream) else { throw UserRejection.unknownUser }
        return try last.decoded()
    }

    /// Whether the user of a token is erased. The domain event of the sign-up or the rotation has an id that derives from the
    /// token, and an erasure keeps this id.
    /// - Returns: `nil` if the user is not erased; otherwise as ``erase(_:by:context:)``
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    public func erasure(of token: DeviceToken) async throws -> (position: Int64, end: Int64?)? {
        guard token.isWellFormed else { return nil }
        let streams = try await database.query("SELECT stream FROM log.recorded(\([token.digest.domainEventID]))").decode(
            String.self)
        guard let id = streams.first.flatMap({ UserID(stream: StreamName($0)) }) else { return nil }
        guard let last = try await LogReader(client: database).newest(of: id.stream),
            try last.decoded(as: UserDomainEvent.self).event == .erased
        else { return nil }
        return (last.position, try await erasures.end(of: id.stream, at: last.position, within: .seconds(Self.erasureSeconds)))
    }

    /// What an erasure of a user would end; `nil` if the user is erased already.
    /// - Throws: ``UserRejection/unknownUser``, `ReadModelError.behind`, `PostgresError`
    public func figures(of id: UserID) async throws -> Erasures.Figures? {
        try await last(of: id).event == .erased ? nil : try await erasures.figures(of: id.stream)
    }
}

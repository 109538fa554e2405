public import EventStore
internal import Postgres

extension UsersModule {
    /// Erases a user, who is forgotten from then on: the token, all events and attendances of the user, and every word in them, in the log
    /// and in the read models. Facts stay: that there was a user, and when. A repetition changes nothing.
    /// - Parameter actor: the user who asked; `nil` for an operator
    /// - Returns: a position from which on the user is erased, and whether the user was erased before
    /// - Throws: ``UserRejection/unknownUser``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func erase(_ id: UserID, by actor: UserID?, context: CommandContext) async throws -> (
        position: Int64, wasErased: Bool
    ) {
        var wasErased = false
        let place = try await commands.handle(context) {
            let extent = try await extent(of: id)
            wasErased = extent.isErased
            return try await erasure.decision(
                for: id.rawValue, extent, recording: UserDomainEvent.erased, by: actor?.rawValue)
        }.place
        return (place.position, wasErased)
    }

    /// Whether the user of a token is erased. The domain event of the sign-up or the rotation has an id that derives from the
    /// token, and an erasure keeps this id.
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    public func isErased(_ token: DeviceToken) async throws -> Bool {
        guard token.isWellFormed else { return false }
        let streams = try await database.query("SELECT stream FROM log.recorded(\([token.digest.domainEventID]))").decode(
            String.self)
        guard let stream = streams.first else { return false }
        let last: UserDomainEvent? = try await LogReader(client: database).newest(of: StreamName(stream))?.decoded().event
        return last == .erased
    }

    /// Drops the copies of read models that no append changes, for an operator: they would show erased persons.
    /// - Returns: the schemas that are left, because they are in use
    /// - Throws: `PostgresError`, `CancellationError`
    public func dropOldReadModels() async throws -> [String] { try await erasure.dropOldReadModels() }

    /// What an erasure of a user would end; `nil` if the user is erased already.
    /// - Throws: ``UserRejection/unknownUser``, `ReadModelError.behind`, `PostgresError`
    public func figures(of id: UserID) async throws -> PersonalErasure.Figures? {
        let extent = try await extent(of: id)
        return extent.isErased ? nil : try await erasure.figures(of: id.rawValue, extent)
    }

    private func extent(of id: UserID) async throws -> PersonalErasure.Extent {
        let extent = try await erasure.extent(of: id.rawValue)
        guard extent.version > 0 else { throw UserRejection.unknownUser }
        return extent
    }
}

public import EventStore
internal import Foundation

extension UsersModule {
    /// Replaces a token, and ends all passes of the user. From the returned position on, the old token is dead on every node.
    ///
    /// The new token makes the command repeatable: the same two tokens get the same result again, as long as the new one is alive.
    /// - Parameters:
    ///   - old: the caller's present token
    ///   - new: `nil` for a random one
    /// - Throws: ``UserRejection``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func rotate(_ old: DeviceToken, to new: DeviceToken?, context: CommandContext) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        let new = new ?? newToken()
        guard new.isWellFormed else { throw UserRejection.malformedToken }
        let (oldDigest, newDigest) = (try await digest(of: old), try await digest(of: new))
        var rotated: (stream: StreamName, version: Int32)?
        let place = try await commands.handle(context) {
            let user = try await table.user(of: oldDigest)
            if user == nil, let first = try await table.user(of: newDigest),
                try await didReplace(oldDigest, by: newDigest, of: first)
            {
                rotated = (first.id.stream, first.version)
                return Decision([], to: first.id.stream, after: first.version, by: nil)
            }
            let event = try decideRotation(of: oldDigest, to: newDigest, on: user)
            // A user that does not exist was rejected.
            guard let user else { throw UserRejection.unknownToken }
            rotated = (user.id.stream, user.version + 1)
            return Decision(
                [try await endOfPasses(of: user.id), StreamAppend([event], to: user.id.stream, after: user.version)],
                by: user.id.rawValue, id: try await domainEventID(of: new))
        }.place
        // Otherwise the log had the new token before, in another recorded event.
        guard let rotated, rotated == (place.stream, place.version), let id = UserID(stream: place.stream) else {
            throw UserRejection.usedToken
        }
        return (id, new, place.position)
    }

    /// Whether a user's present token directly replaced another one.
    private func didReplace(_ old: DeviceDigest, by new: DeviceDigest, of user: User) async throws -> Bool {
        let events = try await lastTwoEvents(of: user)
        return events.count == 2 && events[1] == .rotated(device: .present(new)) && events[0].device == old
    }

    private func lastTwoEvents(of user: User) async throws -> [UserDomainEvent] {
        let recorded = try await LogReader(client: database).read(stream: user.id.stream, after: user.version - 2)
        return try recorded.map { try $0.decoded().event }
    }

    /// Ends the token and all passes of a user, who cannot come back. A repetition changes nothing.
    /// - Returns: a position from which on the token is dead, and whether there was something to end until then
    /// - Throws: ``UserRejection``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func revokeToken(of id: UserID, context: CommandContext) async throws -> (position: Int64, wasAlive: Bool) {
        var wasAlive = false
        let place = try await commands.handle(context) {
            let user = try await table.user(id)
            let revoked = try decideRevocation(of: user)
            let end = try await endOfPasses(of: id)
            wasAlive = revoked != nil || !end.events.isEmpty
            return Decision([end, StreamAppend(revoked.map { [$0] } ?? [], to: id.stream, after: user?.version ?? 0)], by: nil)
        }.place
        return (place.position, wasAlive)
    }

    /// Ends a token for its holder. The user has no token from then on, and may come back with a pass. A repetition changes nothing.
    /// - Returns: the position from which on the token is dead; `nil` if it is no user's present token
    /// - Throws: `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func revoke(_ token: DeviceToken, context: CommandContext) async throws -> Int64? {
        guard token.isWellFormed else { return nil }
        do {
            return try await commands.handle(context) {
                guard let user = try await table.user(of: digest(of: token)) else { throw UserRejection.unknownToken }
                return Decision(UserDomainEvent.revoked, to: user.id.stream, after: user.version, by: user.id.rawValue)
            }.place.position
        } catch UserRejection.unknownToken {
            return nil
        }
    }

    /// The user of a token that another token replaced, so that the user moved to another device; `nil` if the token is alive, was revoked,
    /// or was never known, or if the user is erased.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `FormatError`, `CancellationError`
    public func movedUser(from token: DeviceToken) async throws -> UserID? {
        guard let id = try await holder(of: token), let user = try await table.user(id) else { return nil }
        let device = try await digest(of: token)
        if let present = user.device { return present == device ? nil : id }
        // The other device may have ended its own token since. An erased user has another last domain event.
        let events = try await lastTwoEvents(of: user)
        return events.count == 2 && events[1] == .revoked && events[0].device != device ? id : nil
    }

    /// Whether a user has a token or a pass.
    /// - Throws: ``UserRejection/unknownUser``, and the errors of ``passes(of:)``
    public func hasAccess(_ id: UserID) async throws -> Bool {
        if try decideRevocation(of: await table.user(id)) != nil { return true }
        return try await !endOfPasses(of: id).events.isEmpty
    }
}

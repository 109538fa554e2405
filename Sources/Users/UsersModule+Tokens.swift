public import EventStore
internal import Foundation

extension UsersModule {
    /// Replaces a token. From the returned position on, the old token is dead on every node.
    ///
    /// The new token makes the command repeatable: the same two tokens get the same result again, as long as the new one is alive.
    /// - Throws: ``UserRejection``, `StreamContended`, `ReadModelError.behind`, and what `EventLog.append(_:)` throws
    public func rotate(_ command: RotateToken, context: CommandContext) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        let new = command.new ?? newToken()
        return try await ConflictRetry(dependencies: dependencies).run { _ in
            let user = try await table.user(of: command.old)
            if user == nil, let first = try await table.user(of: new), try await didReplace(command.old, by: new, of: first) {
                return (first.id, new, try await LogReader(client: database).tail())
            }
            let rotated = try decide(command, to: new, on: user)
            // A user that does not exist was rejected.
            guard let user else { throw UserRejection.unknownToken }
            let appended = try await log.append(
                AppendRequest(
                    id: rotated.device.domainEventID,
                    stream: user.id.stream,
                    expectedVersion: user.version,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: user.id.rawValue),
                    event: UserDomainEvent.rotated(rotated)
                )
            )
            // Otherwise the log had the new token before, in another recorded event.
            guard appended.stream == user.id.stream, appended.version == user.version + 1 else { throw UserRejection.usedToken }
            return (user.id, new, appended.position)
        }
    }

    /// Whether a user's present token directly replaced another one.
    private func didReplace(_ old: DeviceToken, by new: DeviceToken, of user: User) async throws -> Bool {
        let recorded = try await LogReader(client: database).read(stream: user.id.stream, after: user.version - 2)
        guard recorded.count == 2 else { return false }
        let events: [UserDomainEvent] = try recorded.map { try $0.decoded().event }
        return events[1] == .rotated(TokenRotated(device: new.digest))
            && [.created(UserCreated(device: old.digest)), .rotated(TokenRotated(device: old.digest))].contains(events[0])
    }

    /// Ends the token of a user. The user has no token from then on. A repetition changes nothing.
    /// - Returns: a position from which on the token is dead, and whether it was alive until then
    /// - Throws: ``UserRejection``, `StreamContended`, `ReadModelError.behind`, and what `EventLog.append(_:)` throws
    public func revokeToken(of id: UserID, context: CommandContext) async throws -> (position: Int64, wasAlive: Bool) {
        try await ConflictRetry(dependencies: dependencies).run { _ in
            let user = try await table.user(id)
            guard let revoked = try decideRevocation(of: user), let user else {
                return (try await LogReader(client: database).tail(), false)
            }
            return (try await append(revoked, to: user, by: nil, context: context), true)
        }
    }

    /// Ends a token for its holder. The user has no token from then on. A repetition changes nothing.
    /// - Returns: the position from which on the token is dead; `nil` if it is no user's present token
    /// - Throws: `StreamContended`, `ReadModelError.behind`, and what `EventLog.append(_:)` throws
    public func revoke(_ token: DeviceToken, context: CommandContext) async throws -> Int64? {
        guard token.isWellFormed else { return nil }
        return try await ConflictRetry(dependencies: dependencies).run { _ in
            guard let user = try await table.user(of: token) else { return nil }
            return try await append(.revoked, to: user, by: user.id, context: context)
        }
    }

    private func append(
        _ event: UserDomainEvent, to user: User, by actor: UserID?, context: CommandContext
    ) async throws -> Int64 {
        try await log.append(
            AppendRequest(
                id: dependencies.newDomainEventID, stream: user.id.stream, expectedVersion: user.version,
                recordedAt: dependencies.now(), metadata: context.metadata(actor: actor?.rawValue), event: event)
        ).position
    }

    /// Whether a user has a token.
    /// - Throws: ``UserRejection/unknownUser``, `ReadModelError.behind`, `PostgresError`
    public func hasToken(_ id: UserID) async throws -> Bool { try decideRevocation(of: await table.user(id)) != nil }
}

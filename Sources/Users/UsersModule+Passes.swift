public import Encoding
public import EventStore
internal import Foundation
internal import Postgres

extension UsersModule {
    /// The stream of a user's passes. The log has it, also if the read model has no pass any more.
    static let passesOfUser = PersonalStreams(of: UserID.category) { user, database in
        let stream = UserID(rawValue: user).passes
        guard try await LogReader(client: database).newest(of: stream) != nil else { return [] }
        return [PersonalStream(stream, endsWith: PassDomainEvent.erased)]
    }

    /// Issues a pass, in place of the user's present one of that kind.
    /// - Parameter context: requires the user's token, so that no pass comes after its end
    /// - Returns: the secret, which is kept nowhere; when the pass expires; the position from which on it is usable
    /// - Throws: the errors of `CommandHandler.handle(_:by:_:)`
    public func issuePass(_ kind: PassKind, to user: UserID, context: CommandContext) async throws -> (
        secret: PassSecret, expiresAt: Timestamp?, position: Int64
    ) {
        let secret = PassSecret(kind, random: dependencies.randomUUID())
        let digest = try await digest(of: secret.token)
        let expiresAt = kind.terms.seconds.map { Timestamp(milliseconds: dependencies.now().milliseconds + $0 * 1_000) }
        let place = try await commands.handle(context) {
            Decision(
                PassDomainEvent.issued(kind, digest: .present(digest), expiresAt: expiresAt), to: user.passes,
                after: try await held(by: user).version, by: user.rawValue)
        }.place
        return (secret, expiresAt, place.position)
    }

    /// The passes that the user has now.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `FormatError`, `CancellationError`
    public func passes(of user: UserID) async throws -> [Pass] {
        let now = dependencies.now()
        return try await held(by: user).passes.filter { $0.isUsable(at: now) }
    }

    /// Ends the user's pass of a kind. A repetition changes nothing.
    /// - Returns: a position from which on the pass is over
    /// - Throws: the errors of ``passes(of:)`` and of `CommandHandler.handle(_:by:_:)`
    public func endPass(_ kind: PassKind, of user: UserID, context: CommandContext) async throws -> Int64 {
        try await commands.handle(context) {
            let (passes, version) = try await held(by: user)
            let ended = passes.contains { $0.kind == kind } ? PassDomainEvent.ended(kind) : nil
            return Decision(ended, to: user.passes, after: version, by: user.rawValue)
        }.place.position
    }

    /// The user whose calendar has this secret address; `nil` for any other secret, and if the user is erased.
    /// - Throws: the errors of ``passes(of:)``, `FormatError`
    public func user(ofCalendar secret: PassSecret) async throws -> UserID? {
        let digest = try await digest(of: secret.token)
        // Of other kinds nothing is read: the time of the answer must help nobody to guess a code.
        let found = try await passes(where: "digest = \(digest.bytea) AND kind = \(PassKind.calendar.rawValue)").first
        guard let user = found?.user else { return nil }
        let last: EventEnvelope<UserDomainEvent>? = try await LogReader(client: database).newest(of: user.stream)?.decoded()
        return last?.event == .erased ? nil : user
    }

    /// The token of a return from the map page, whose scripts must not know one: the pepper makes it out of the pass and a nonce.
    /// - Throws: the errors of `Pepper.id(of:)`
    public func token(for pass: PassSecret, nonce: String) async throws -> DeviceToken {
        let id = try await commands.pepper.id(of: "return \(pass.token.digest.hexadecimal) \(nonce)")
        return DeviceToken(secret: id.uuidString.lowercased())
    }

    /// The user whom ``comeBack(with:as:context:)`` would bring back, or has brought back, with the same pass and token.
    /// - Throws: ``UserRejection``, and the errors of ``passes(of:)``
    public func user(with pass: PassSecret, as new: DeviceToken) async throws -> UserID {
        try await returning(with: pass, as: new).user
    }

    /// Gives the user of a pass a new token. From the returned position on, the old token is dead on every node.
    ///
    /// The new token makes the command repeatable: the same pass and token get the same result again, as long as the token is alive and
    /// the user came back with no other pass.
    /// - Throws: ``UserRejection``, and the errors of ``passes(of:)`` and of `CommandHandler.handle(_:by:_:)`
    public func comeBack(with pass: PassSecret, as new: DeviceToken, context: CommandContext) async throws -> (
        id: UserID, position: Int64
    ) {
        guard new.isWellFormed else { throw UserRejection.malformedToken }
        var returned: (user: UserID, version: Int32)?
        let place = try await commands.handle(context) {
            let (user, version, decision) = try await returning(with: pass, as: new)
            returned = (user, version)
            return decision
        }.place
        // Otherwise the log had the new token before, in another recorded event.
        guard let (id, version) = returned, (id.stream, version) == (place.stream, place.version) else {
            throw UserRejection.usedToken
        }
        return (id, place.position)
    }

    /// - Returns: the user, the version of the user's stream after the return, and what the return records
    private func returning(with pass: PassSecret, as new: DeviceToken) async throws -> (
        user: UserID, version: Int32, decision: Decision
    ) {
        let (pass, device) = (try await digest(of: pass.token), try await digest(of: new))
        let found = try await holder(of: pass)
        // Read last: a return at the same time by the same pass and token is seen here, or the log has its id.
        let present = try await table.user(of: device)
        if let present, try await lastUsed(by: present.id) == pass {
            return (present.id, present.version, Decision([], to: present.id.stream, after: present.version, by: nil))
        }
        guard let (user, last, row, version) = found else { throw UserRejection.unknownPass }
        let used = try decideReturn(with: row, after: last.event, at: dependencies.now())
        guard present == nil else { throw UserRejection.usedToken }
        let decision = Decision(
            [
                StreamAppend([used], to: user.passes, after: version),
                StreamAppend([UserDomainEvent.rotated(device: .present(device))], to: last.stream, after: last.version),
            ], by: user.rawValue, id: try await domainEventID(of: new))
        return (user, last.version + 1, decision)
    }

    /// The user of a pass that has not expired, the user's last domain event, the row of the pass, and the version of the stream of passes;
    /// `nil` if no user has the pass. Two users whose codes are equal cannot be told apart.
    private func holder(of pass: DeviceDigest) async throws -> (
        user: UserID, last: EventEnvelope<UserDomainEvent>, pass: Pass?, version: Int32
    )? {
        let now = dependencies.now()
        let log = LogReader(client: database)
        let users = try await passes(where: "digest = \(pass.bytea)").filter { $0.isUsable(at: now) }.map(\.user)
        guard users.count == 1, let recorded = try await log.newest(of: users[0].stream) else { return nil }
        let last: EventEnvelope<UserDomainEvent> = try recorded.decoded()
        let (rows, version) = try await held(by: users[0])
        return (users[0], last, rows.first { $0.digest == pass }, version)
    }

    /// The pass with which a user came back last.
    private func lastUsed(by user: UserID) async throws -> DeviceDigest? {
        let last: EventEnvelope<PassDomainEvent>? = try await LogReader(client: database)
            .newest(of: user.passes, types: ["PassUsed"], through: .max)?.decoded()
        return if case .used(_, .present(let digest))? = last?.event { digest } else { nil }
    }

    /// What ends all passes of a user. Without passes, the append requires that none was issued meanwhile.
    func endOfPasses(of user: UserID) async throws -> StreamAppend {
        let (passes, version) = try await held(by: user)
        return StreamAppend(passes.map { PassDomainEvent.ended($0.kind) }, to: user.passes, after: version)
    }

    /// A user's rows, and the version of the stream. It is read first, so that an append after newer rows conflicts.
    private func held(by user: UserID) async throws -> (passes: [Pass], version: Int32) {
        let version = try await LogReader(client: database).newest(of: user.passes)?.envelope.version ?? 0
        return (try await passes(where: "user_id = \(user.rawValue) ORDER BY kind"), version)
    }

    private func passes(where condition: SQL) async throws -> [Pass] {
        try await StateReader(of: PassesProjection(), client: database).rows(
            "SELECT \(PassesProjection.layout.names) FROM \(identifier: PassesProjection.schema).passes WHERE \(condition)"
        ).map { try Pass($0) }
    }
}

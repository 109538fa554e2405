internal import Encoding
public import EventStore
internal import Foundation
internal import Postgres

extension AccountsModule {
    /// Gives an account another password, and ends all its tokens but the caller's.
    ///
    /// The tokens end first, each by a domain event of its own, and the password changes last. So a command that fails midway is
    /// completed by its repetition, and no token of another client outlives the old password.
    /// - Parameter client: as of ``signUp(_:from:context:)``
    /// - Returns: the account, and the position at which the new password is recorded
    /// - Throws: ``AccountRejection``, ``PasswordHasherBusyError``, `StreamContended`, `ReadModelError.behind`, `PostgresError`,
    ///   `EventLogError`, `CancellationError`
    public func changePassword(
        _ command: ChangePassword, by caller: AccountToken, from client: String, context: CommandContext
    ) async throws -> (account: AccountID, position: Int64) {
        guard let current = command.current else { throw AccountRejection.wrongCurrentPassword }
        var verified: PasswordHash?
        var new: PasswordHash?
        return try await retry.run { conflict in
            guard let (id, version) = try await owner(of: caller) else { throw AccountRejection.unknownToken }
            let account = try await account(id, atLeast: max(version, conflict?.actual ?? 0))
            if account.password != verified {
                guard try await hasher.matches(current, account.password, for: client) else {
                    throw AccountRejection.wrongCurrentPassword
                }
                verified = account.password
            }
            let hash: PasswordHash
            if let new {
                hash = new
            } else {
                hash = try await hasher.hash(command.new, salt: dependencies.randomUUID(), for: client)
                new = hash
            }
            var last = account.version
            for token in try await tokens(of: id, but: caller) {
                last = try await append(
                    .signedOut(SignedOut(revoked: token)), to: id, version: last, context: context
                ).version
            }
            let changed = try await append(
                .passwordChanged(PasswordChanged(password: hash)), to: id, version: last, context: context)
            return (id, changed.position)
        }
    }

    /// The account with an id or an e-mail address, and the number of its tokens.
    /// - Throws: ``AccountRejection/unknownAccount``, `ReadModelError.behind`, `PostgresError`, `CancellationError`
    package func account(named text: String) async throws -> (id: AccountID, tokens: Int64) {
        if let email = EmailAddress(text) {
            guard let account = try await account(with: email) else { throw AccountRejection.unknownAccount }
            return (account.id, account.tokenCount)
        }
        guard let id = Int64(text) else { throw AccountRejection.unknownAccount }
        let account = try await account(AccountID(rawValue: id), atLeast: 0)
        return (account.id, account.tokenCount)
    }

    /// Ends all tokens of an account, the oldest first. A repetition changes nothing.
    /// - Returns: the number of tokens that ended, and the position at which the last one did; `nil` if the account had none
    /// - Throws: ``AccountRejection/unknownAccount``, `StreamContended`, `ReadModelError.behind`, `PostgresError`, `EventLogError`,
    ///   `CancellationError`
    package func revokeTokens(of id: AccountID, context: CommandContext) async throws -> (count: Int, position: Int64?) {
        var (count, last): (Int, Int64?) = (0, nil)
        while let position = try await revokeOldestToken(of: id, context) { (count, last) = (count + 1, position) }
        return (count, last)
    }

    /// - Returns: the position at which the end of the token is recorded; `nil` if the account has none
    private func revokeOldestToken(of id: AccountID, _ context: CommandContext) async throws -> Int64? {
        try await retry.run { conflict in
            let account = try await account(id, atLeast: conflict?.actual ?? 0)
            guard let token = account.oldestToken else { return nil }
            return try await append(
                .signedOut(SignedOut(revoked: token)), to: id, version: account.version, context: context
            ).position
        }
    }

    /// The tokens of an account but one. Read after the account: a token of a later version makes the next append conflict.
    private func tokens(of id: AccountID, but kept: AccountToken) async throws -> [TokenDigest] {
        try await database.query(
            """
            SELECT token FROM \(identifier: AccountsProjection.schema).account_tokens
            WHERE account_id = \(id.rawValue) AND token <> \(kept.digest.text) ORDER BY issued
            """
        ).decode(String.self).map { text in
            guard let digest = TokenDigest(stored: text) else {
                throw FormatError("a token of account \(id.rawValue) cannot be read")
            }
            return digest
        }
    }
}

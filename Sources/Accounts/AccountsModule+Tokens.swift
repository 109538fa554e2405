internal import Encoding
public import EventStore
internal import Foundation
package import Postgres

extension AccountsModule {
    /// Gives an account another password, and ends all its tokens but the caller's.
    ///
    /// Each token ends by a domain event of its own. All of them end and the password changes, or nothing does. So no token of another
    /// client outlives the old password.
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
        let place = try await commands.handle(context) {
            let account = try await account(of: caller, knowing: current, &verified, for: client)
            let id = account.id
            let hash: PasswordHash
            if let new {
                hash = new
            } else {
                hash = try await hasher.hash(command.new, salt: dependencies.randomUUID(), for: client)
                new = hash
            }
            let ended = try await tokens(of: id).filter { $0 != caller.digest }.map {
                AccountDomainEvent.signedOut(revoked: .present($0))
            }
            return decision(ended + [.passwordChanged(.present(hash))], on: id, after: account.version)
        }.place
        guard let id = AccountID(stream: place.stream) else {
            throw FormatError("a new password is recorded in the stream \(place.stream)")
        }
        return (id, place.position)
    }

    /// The account of a token, for a client that knows the password.
    /// - Parameter verified: the hash that the password was compared with before
    /// - Throws: ``AccountRejection/unknownToken``, ``AccountRejection/wrongCurrentPassword``, ``PasswordHasherBusyError``,
    ///   `ReadModelError.behind`, `PostgresError`, `CancellationError`
    func account(
        of caller: AccountToken, knowing password: Password, _ verified: inout PasswordHash?, for client: String
    ) async throws -> Account {
        guard let (id, _, _) = try await owner(of: caller), let account = try await account(id) else {
            throw AccountRejection.unknownToken
        }
        if account.password != verified {
            guard try await hasher.matches(password, account.password, for: client) else {
                throw AccountRejection.wrongCurrentPassword
            }
            verified = account.password
        }
        return account
    }

    /// The account with an id or an e-mail address, and the number of its tokens.
    /// - Throws: ``AccountRejection/unknownAccount``, `ReadModelError.behind`, `PostgresError`, `CancellationError`
    package func account(named text: String) async throws -> (id: AccountID, tokens: Int64) {
        guard let account = try await account(try await id(named: text)) else { throw AccountRejection.unknownAccount }
        return (account.id, account.tokenCount)
    }

    /// The account with an e-mail address, or with an id, which may be one of an erased account or of none.
    /// - Throws: ``AccountRejection/unknownAccount``, `ReadModelError.behind`, `PostgresError`, `CancellationError`
    package func id(named text: String) async throws -> AccountID { try await Self.id(named: text, in: database) }

    /// As ``id(named:)``, for a program that runs no modules.
    package static func id(named text: String, in database: PostgresClient) async throws -> AccountID {
        var id = Int64(text)
        if let email = EmailAddress(text) {
            id = try await StateReader(of: AccountsProjection(), client: database).rows(
                "SELECT id FROM \(identifier: AccountsProjection.schema).accounts WHERE email = \(email.text)"
            ).decode(Int64.self).first
        }
        guard let id else { throw AccountRejection.unknownAccount }
        return AccountID(rawValue: id)
    }

    /// Ends all tokens of an account. A repetition changes nothing.
    /// - Returns: the number of tokens that ended, and the position at which they did; `nil` if the account had none
    /// - Throws: ``AccountRejection/unknownAccount``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    package func revokeTokens(of id: AccountID, context: CommandContext) async throws -> (count: Int, position: Int64?) {
        var count = 0
        let place = try await commands.handle(context) {
            guard let account = try await account(id) else { throw AccountRejection.unknownAccount }
            let ended = try await tokens(of: id).map { AccountDomainEvent.signedOut(revoked: .present($0)) }
            count = ended.count
            return decision(ended, on: id, after: account.version)
        }.place
        return (count, count > 0 ? place.position : nil)
    }

    /// The tokens of an account, the oldest first. Read after the account: a token of a later version makes the next append conflict.
    private func tokens(of id: AccountID) async throws -> [TokenDigest] {
        try await database.query(
            """
            SELECT token FROM \(identifier: AccountsProjection.schema).account_tokens WHERE account_id = \(id.rawValue) ORDER BY issued
            """
        ).decode(String.self).map { text in
            guard let digest = TokenDigest(stored: text) else {
                throw FormatError("a token of account \(id.rawValue) cannot be read")
            }
            return digest
        }
    }
}

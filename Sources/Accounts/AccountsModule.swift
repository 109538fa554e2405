public import EventStore
internal import Foundation
internal import Postgres

extension StoredModule {
    /// People with an e-mail address and a password.
    package static let accounts = StoredModule(
        "accounts", domainEvents: [AccountDomainEvent.self], projections: [AccountsProjection()],
        idSequences: [AccountsModule.ids])
}

/// An account and a new token for it.
public struct IssuedToken: Sendable {
    public var account: AccountID
    public var token: AccountToken
    /// The position at which the token is recorded.
    public var position: Int64
}

/// Signs people up, in and out.
public struct AccountsModule: Sendable {
    static let ids = IDSequence(category: AccountDomainEvent.category, name: "log.account_ids")

    let database: PostgresClient
    let commands: CommandHandler
    public let erasures: PersonErasures
    private let ids: IDAllocator
    let dependencies: Dependencies
    private let state: StateReader
    let hasher: PasswordHasher

    /// Hashes passwords with the composition's ``PasswordHasher``, or with one of its own.
    package init(_ composition: Composition) {
        database = composition.database
        erasures = PersonErasures(composition)
        dependencies = composition.dependencies
        state = StateReader(of: AccountsProjection(), client: database)
        commands = CommandHandler(composition, state: state)
        ids = IDAllocator(Self.ids, client: database)
        hasher = composition.find() ?? PasswordHasher()
    }

    /// Creates an account and its first token.
    ///
    /// A taken address is refused after the password was hashed: a client that asks for addresses pays for a hash each time.
    /// - Parameter client: the client's network, which has one place in the queue of hashes
    /// - Throws: ``AccountRejection/invalid(errors:)``, also if the address has an account; ``PasswordHasherBusyError``,
    ///   `StreamContended`, `ReadModelError.behind`, `PostgresError`, `EventLogError`, `CancellationError`
    public func signUp(_ command: SignUp, from client: String, context: CommandContext) async throws -> IssuedToken {
        let valid = try command.validated()
        let password = try await hasher.hash(valid.password, salt: dependencies.randomUUID(), for: client)
        // The log decides, by the id of the append. The query spares the writer most of the refused appends. It finds the accounts of an
        // imported log, too, whose ids have another pepper.
        guard try await account(with: valid.email) == nil else { throw AccountRejection.taken }
        let token = AccountToken(dependencies)
        let created = AccountCreated(name: valid.name, email: valid.email, password: password, token: token.digest)
        var new: AccountID?
        let place = try await commands.handle(context) {
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            let id = AccountID(rawValue: try await ids.next())
            new = id
            return decision([.created(.present(created))], on: id, after: 0, id: try await creationID(of: valid.email))
        }.place
        guard let new, place.stream == new.stream else { throw AccountRejection.taken }
        return IssuedToken(account: new, token: token, position: place.position)
    }

    /// The id of the one recorded event that creates the account of an address. So the log decides a race of two sign-ups, because it
    /// records an id once.
    ///
    /// An erased account keeps its ids. Nobody can test a guess of its address without the database, which has the pepper. The number
    /// lets the address sign up again: the ids of its erased accounts are passed over.
    private func creationID(of email: EmailAddress) async throws -> UUID {
        var first = 1
        while true {
            var ids: [UUID] = []
            for number in first..<first + Self.numbersAtOnce {
                ids.append(try await commands.pepper.id(of: "account \(number) \(email.text)"))
            }
            let erased = try await LogReader(client: database).streams(of: ids, areErased: true)
            if let id = ids.first(where: { erased[$0] == nil }) { return id }
            first += Self.numbersAtOnce
        }
    }

    /// Number of erased accounts of one address that one query passes over.
    private static let numbersAtOnce = 16

    /// Issues a token to a client that knows the password. A wrong address takes as long as a wrong password. A password that is too long
    /// for any account is refused at once, whatever the address.
    ///
    /// The times differ for an account with a stored hash that is weaker than the current parameters, until its next sign-in.
    /// - Parameter client: as of ``signUp(_:from:context:)``
    /// - Throws: ``AccountRejection/wrongCredentials``, ``PasswordHasherBusyError``, `StreamContended`, `ReadModelError.behind`,
    ///   `PostgresError`, `EventLogError`, `CancellationError`
    public func signIn(_ command: SignIn, from client: String, context: CommandContext) async throws -> IssuedToken {
        guard let password = command.password else { throw AccountRejection.wrongCredentials }
        let found = if let email = command.email { try await account(with: email) } else { nil as Account? }
        guard try await hasher.matches(password, found?.password, for: client), var account = found else {
            throw AccountRejection.wrongCredentials
        }
        let token = AccountToken(dependencies)
        var verified = account.password
        var isAgain = false
        var place = try await commands.handle(context) {
            if isAgain {
                // It may be erased now.
                guard let present = try await self.account(account.id) else { throw AccountRejection.wrongCredentials }
                account = present
                // The password may be another one now.
                if account.password != verified {
                    guard try await hasher.matches(password, account.password, for: client) else {
                        throw AccountRejection.wrongCredentials
                    }
                    verified = account.password
                }
            }
            isAgain = true
            let signedIn = decideSignIn(account, token: token.digest)
            return decision([.signedIn(.present(signedIn))], on: account.id, after: account.version)
        }.place
        if hasher.isOutdated(account.password) {
            let hash = try await hasher.hash(password, salt: dependencies.randomUUID(), for: client)
            let changed = decision(
                [.passwordChanged(.present(hash))], on: account.id, after: place.version)
            // If another request changed the account meanwhile, the next sign-in tries again.
            place = try await commands.append(changed, context).place ?? place
        }
        return IssuedToken(account: account.id, token: token, position: place.position)
    }

    /// Revokes a token.
    /// - Returns: the position at which this is recorded
    /// - Throws: ``AccountRejection/unknownToken``, `StreamContended`, `ReadModelError.behind`, `PostgresError`, `EventLogError`,
    ///   `CancellationError`
    public func signOut(_ token: AccountToken, context: CommandContext) async throws -> Int64 {
        try await commands.handle(context) {
            guard let (id, version, _) = try await owner(of: token) else { throw AccountRejection.unknownToken }
            return decision([.signedOut(revoked: .present(token.digest))], on: id, after: version)
        }.place.position
    }

    /// The account of a token; `nil` if the token is unknown or was revoked. Every call asks the database, so that a revoked token is
    /// refused by all servers at once, also by servers of another version.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `CancellationError`
    public func account(of token: AccountToken) async throws -> AccountID? { try await owner(of: token)?.id }

    /// The account of a token for a command, with the condition that the account's stream still ends as the lookup saw it, so that no
    /// command of an erased account is recorded; `nil` if no account has the token. A sign-in changes the stream, too.
    /// - Throws: what ``account(of:)`` throws
    public func caller(of token: AccountToken) async throws -> Caller<AccountID>? {
        guard let (id, _, lastID) = try await owner(of: token) else { return nil }
        return Caller(id: id, condition: AppendCondition(stream: id.stream, lastID: lastID))
    }

    /// The account of a token, the version of its stream, and the id of the last recorded event there.
    func owner(of token: AccountToken) async throws -> (id: AccountID, version: Int32, lastID: UUID)? {
        let rows = try await state.rows(
            """
            SELECT a.id, a.version, \(AppendCondition.lastID(stream: "'account-' || a.id", version: "a.version"))
            FROM \(identifier: AccountsProjection.schema).account_tokens AS t
            JOIN \(identifier: AccountsProjection.schema).accounts AS a ON a.id = t.account_id
            WHERE t.token = \(token.digest.text)
            """
        ).decode((Int64, Int32, UUID?).self)
        guard let (id, version, lastID) = rows.first else { return nil }
        guard let lastID else { throw ReadModelError.behind(AccountsProjection.schema) }
        return (AccountID(rawValue: id), version, lastID)
    }

    func account(with email: EmailAddress) async throws -> Account? {
        try await account(where: "a.email = \(email.text)")
    }

    func account(_ id: AccountID) async throws -> Account? { try await account(where: "a.id = \(id.rawValue)") }

    private func account(where condition: SQL) async throws -> Account? {
        let rows = try await state.rows(
            """
            SELECT a.id, a.version, a.password,
                (SELECT count(*) FROM \(identifier: AccountsProjection.schema).account_tokens AS t WHERE t.account_id = a.id),
                (SELECT t.token FROM \(identifier: AccountsProjection.schema).account_tokens AS t WHERE t.account_id = a.id
                    ORDER BY t.issued LIMIT 1)
            FROM \(identifier: AccountsProjection.schema).accounts AS a WHERE \(condition)
            """
        ).decode((Int64, Int32, String, Int64, String?).self)
        return try rows.first.map { id, version, password, tokenCount, oldestToken in
            guard let password = PasswordHash(stored: password) else {
                throw FormatError("the password of account \(id) cannot be read")
            }
            return Account(
                id: AccountID(rawValue: id), version: version, password: password, tokenCount: tokenCount,
                oldestToken: oldestToken.flatMap(TokenDigest.init(stored:)))
        }
    }

    /// The actor of a decision is a user, and accounts are no users. The stream names the account.
    func decision(
        _ events: [AccountDomainEvent], on id: AccountID, after version: Int32, id eventID: UUID? = nil
    ) -> Decision {
        Decision(events, to: id.stream, after: version, by: nil, id: eventID)
    }
}

import Encoding
import EventStore
import Hashing
import Postgres
import TestDatabase

@testable import Accounts

/// The accounts module of one server.
extension TestNode where Module == AccountsModule {
    var accounts: AccountsModule { module }

    static var email: String { "ann@example.org" }
    static var password: String { "correct horse" }
    private static var context: CommandContext { CommandContext(requestID: "test") }

    /// - Parameter parameters: of new hashes
    static func with(
        _ database: TestDatabase, parameters: Scrypt = .weak,
        _ body: @escaping @Sendable (TestNode) async throws -> Void
    ) async throws {
        try await database.prepare([AccountsProjection()])
        try await run(
            database, projections: [AccountsProjection()], listens: false,
            compose: { composition in
                // Tests send many requests at once for one client.
                composition.add(PasswordHasher(parameters: parameters, clientLimit: PasswordHasher.queueLimit))
                return (AccountsModule(composition), [])
            }, body)
    }

    /// Runs one server on a database of its own.
    static func with(_ body: @escaping @Sendable (TestNode) async throws -> Void) async throws {
        try await TestDatabase.with([AccountsProjection()]) { database in try await with(database, body) }
    }

    /// Runs two servers on one database.
    static func withTwo(_ body: @escaping @Sendable (TestNode, TestNode) async throws -> Void) async throws {
        try await TestDatabase.with([AccountsProjection()]) { database in
            try await with(database) { one in try await with(database) { two in try await body(one, two) } }
        }
    }

    func signUp(_ email: String = email, _ password: String = password, name: JSON = "Ann") async throws -> IssuedToken {
        try await accounts.signUp(
            SignUp(["name": name, "email": .string(email), "password": .string(password)]), from: "a", context: Self.context)
    }

    func signIn(_ email: String = email, _ password: String = password) async throws -> IssuedToken {
        try await accounts.signIn(
            SignIn(["email": .string(email), "password": .string(password)]), from: "a", context: Self.context)
    }

    @discardableResult
    func changePassword(_ current: String = password, to new: String, by token: AccountToken) async throws -> Int64 {
        try await accounts.changePassword(
            ChangePassword(["current_password": .string(current), "password": .string(new)]), by: token, from: "a",
            context: Self.context
        ).position
    }

    func signOut(_ token: AccountToken) async throws -> Int64 { try await accounts.signOut(token, context: Self.context) }

    /// Appends to account 1 as a program without this program's read model does.
    func appendElsewhere(_ event: AccountDomainEvent, version: Int32) async throws {
        let (type, data) = event.stored
        let stored = StoredEvent(type: type, format: 1, together: data.utf8, of: AccountDomainEvent.self)
        try await client.append(elsewhere: stored, to: StreamName("account-1"), version: version)
    }

    /// The stored types of an account's stream, in order.
    func types(of account: AccountID) async throws -> [String] {
        try await LogReader(client: client).read(after: 0, limit: 1_000).filter { $0.envelope.stream == account.stream }
            .map(\.envelope.event.type)
    }
}

import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase

@testable import Users

/// The users module of one server.
extension TestNode where Module == UsersModule {
    var users: UsersModule { module }

    func signUp(_ secret: String? = nil) async throws -> (id: UserID, token: DeviceToken) {
        let token = secret.map(DeviceToken.init(secret:))
        let (id, issued, _) = try await users.signUp(with: token, context: Self.context)
        return (id, issued)
    }

    func rotate(_ old: DeviceToken, to new: String?) async throws -> (id: UserID, token: DeviceToken, position: Int64) {
        try await users.rotate(old, to: new.map(DeviceToken.init(secret:)), context: Self.context)
    }

    func revoke(_ id: UserID) async throws -> (position: Int64, wasAlive: Bool) {
        try await users.revokeToken(of: id, context: Self.context)
    }

    /// - Parameter token: the command requires that it is the user's; `nil` for no condition
    func issue(_ kind: PassKind, to id: UserID, by token: DeviceToken? = nil) async throws -> PassSecret {
        var context = Self.context
        if let token { context.conditions = [try await condition(of: token, id)] }
        return try await users.issuePass(kind, to: id, context: context).secret
    }

    func comeBack(_ pass: PassSecret, as token: String) async throws -> (id: UserID, position: Int64) {
        try await users.comeBack(with: pass, as: DeviceToken(secret: token), context: Self.context)
    }

    func types(_ stream: StreamName) async throws -> [String] {
        try await reader.read(stream: stream).map(\.envelope.event.type)
    }

    /// Appends a domain event of another stream for the user of a token; `nil` if no user has it.
    func append(of token: DeviceToken) async throws -> RecordedPlace? {
        var failed: AppendCondition?
        while let caller = try await users.caller(of: token, after: failed) {
            let context = CommandContext(requestID: "test", conditions: [caller.condition])
            do {
                return try await users.commands.handle(context) {
                    let device = DeviceToken(secret: UUID().uuidString).digest
                    let stream = UserID(rawValue: 1_000 + Int64.random(in: 0..<1_000_000)).stream
                    return Decision(
                        UserDomainEvent.created(device: .present(device)), to: stream, after: 0, by: caller.id.rawValue)
                }.place
            } catch let error as FailedConditionError { failed = error.condition }
        }
        return nil
    }

    /// The conditions that a command gets, one for each attempt.
    /// - Parameter failing: whether the first two conditions do not hold
    func conditions(of token: DeviceToken, failing: Bool = false) async throws -> [AppendCondition] {
        var conditions: [AppendCondition] = []
        while let caller = try await users.caller(of: token, after: conditions.last) {
            conditions.append(caller.condition)
            if !failing || conditions.count > 2 { break }
        }
        return conditions
    }

    /// What a command of the user requires.
    func condition(of token: DeviceToken, _ user: UserID) async throws -> AppendCondition {
        AppendCondition(stream: user.stream, lastID: try await users.domainEventID(of: token))
    }

    func user(of secret: String) async throws -> UserID? { try await users.user(of: DeviceToken(secret: secret)) }

    static var context: CommandContext { CommandContext(requestID: "test") }

    static var projections: [any Projection] { [UsersProjection(), PassesProjection()] }

    static func with(
        _ database: TestDatabase, dependencies: Dependencies = .system,
        _ body: @escaping @Sendable (TestNode) async throws -> Void
    ) async throws {
        try await database.prepare(projections)
        try await run(
            database, projections: projections, dependencies: dependencies, listens: false,
            compose: { (UsersModule($0), []) }, body)
    }

    /// Runs two servers on one database.
    static func withTwo(_ body: @escaping @Sendable (TestNode, TestNode) async throws -> Void) async throws {
        try await TestDatabase.with(projections) { database in
            try await with(database) { one in try await with(database) { two in try await body(one, two) } }
        }
    }
}

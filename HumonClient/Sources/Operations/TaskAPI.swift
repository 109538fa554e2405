public import Foundation

/// The second app of a Humon server: accounts with an e-mail address and a password, and the tasks of each.
///
/// The store keeps the token of the account, so it must not be the store of a ``HumonAPI``.
public final class TaskAPI: Sendable {
    private struct IssuedToken: Decodable, Sendable {
        var id: Account.ID
        var token: String
    }

    private struct Credentials: Encodable {
        struct User: Encodable {
            var name: String?
            var email: String
            var password: String
        }

        var user: User
    }

    private struct PasswordChange: Encodable {
        struct User: Encodable {
            var currentPassword: String
            var password: String

            private enum CodingKeys: String, CodingKey {
                case currentPassword = "current_password"
                case password
            }
        }

        var user: User
    }

    private struct Proof: Encodable {
        struct User: Encodable {
            var currentPassword: String

            private enum CodingKeys: String, CodingKey { case currentPassword = "current_password" }
        }

        var user: User
    }

    private struct Fields: Encodable {
        struct Task: Encodable {
            var title: String?
            var completed: Bool?
        }

        var task: Task
    }

    private let requester: Requester

    /// - Parameter configuration: its secret of the app is not used
    public init(_ configuration: HumonAPI.Configuration) {
        requester = Requester(configuration) { try await Task.sleep(for: $0) }
    }

    public convenience init(server: URL, tokens: any TokenStore) {
        self.init(HumonAPI.Configuration(server: server, tokens: tokens))
    }

    /// Creates an account, and signs it in. It is not repeated: after a lost response, sign in.
    /// - Throws: ``HumonError``, with `validationFailed` for a taken address; `CancellationError`; an error of the token store
    @discardableResult
    public func signUp(name: String? = nil, email: String, password: String) async throws -> Account {
        try await issueToken("/v1/users", Credentials.User(name: name, email: email, password: password))
    }

    /// Signs an account in, and keeps its token. It is not repeated.
    /// - Throws: ``HumonError``, with `wrongCredentials`; `CancellationError`; an error of the token store
    @discardableResult
    public func signIn(email: String, password: String) async throws -> Account {
        try await issueToken("/v1/users/sign_in", Credentials.User(email: email, password: password))
    }

    /// Revokes the token and forgets it.
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    public func signOut() async throws {
        _ = try await requester.send(
            Request(method: "DELETE", path: "/v1/users/sign_out", identity: .account, isRepeatable: false))
        try await requester.identity.forget()
        requester.forgetUser()
    }

    /// Changes the password. The client's token stays valid, and all other tokens of the account end. It is not repeated.
    /// - Throws: ``HumonError``, with `validationFailed` for a wrong current password; `CancellationError`; an error of the token store
    public func changePassword(from current: String, to new: String) async throws {
        let body = try Request.encoded(PasswordChange(user: PasswordChange.User(currentPassword: current, password: new)))
        _ = try await requester.send(
            Request(method: "PUT", path: "/v1/users/password", identity: .account, body: body, isRepeatable: false))
    }

    /// Erases the account for ever: the server forgets name, address, password and all tasks. The address may sign up again. It is not
    /// repeated: after a lost response a sign-in tells, by `wrongCredentials`, that the account is erased.
    ///
    /// The client keeps the token, which is dead, until the server has said that nothing is left. If that takes longer than about 20
    /// seconds, the function throws `erasing`, and ``isErased(_:)`` tells of the end.
    /// - Throws: ``HumonError``, with `validationFailed` for a wrong password, and with `erasing`; `CancellationError`; an error of the token
    ///   store
    public func eraseAccount(password: String) async throws {
        let body = try Request.encoded(Proof(user: Proof.User(currentPassword: password)))
        let request = Request(
            method: "DELETE", path: "/v1/accounts/me", identity: .account, body: body, isRepeatable: false, mayGoOn: true)
        try await requester.erase(request) { .get("/v1/erasures/\($0)", by: .nobody) }
    }

    /// Whether nothing is left of an erased account. Needs no token.
    /// - Parameter erasure: the id of ``HumonError/erasing(id:)``
    /// - Throws: ``HumonError``, with `notFound` for an unknown id; `CancellationError`
    public func isErased(_ erasure: String) async throws -> Bool {
        let found: ErasureState = try await requester.value(.get("/v1/erasures/\(erasure)", by: .nobody))
        return found.state != ErasureState.underWay
    }

    /// All tasks of the account, in the order of their creation.
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    public func tasks() async throws -> [TodoTask] { try await requester.value(.get("/v1/tasks", by: .account)) }

    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Throws: ``HumonError``, with `validationFailed` for an unusable title; `CancellationError`; an error of the token store
    public func create(_ title: String, key: IdempotencyKey = IdempotencyKey()) async throws -> TodoTask {
        let body = try Request.encoded(Fields(task: Fields.Task(title: title)))
        return try await requester.value(
            Request(method: "POST", path: "/v1/tasks", identity: .account, body: body, key: key, isRepeatable: true))
    }

    /// Changes a task. A `nil` parameter keeps its field.
    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Returns: the task as this change left it
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    @discardableResult
    public func change(
        _ id: TodoTask.ID, title: String? = nil, isCompleted: Bool? = nil, key: IdempotencyKey = IdempotencyKey()
    ) async throws -> TodoTask {
        let body = try Request.encoded(Fields(task: Fields.Task(title: title, completed: isCompleted)))
        return try await requester.value(
            Request(
                method: "PATCH", path: "/v1/tasks/\(id)", identity: .account, body: body, key: key, isRepeatable: true))
    }

    /// Deletes a task.
    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    public func delete(_ id: TodoTask.ID, key: IdempotencyKey = IdempotencyKey()) async throws {
        _ = try await requester.send(
            Request(method: "DELETE", path: "/v1/tasks/\(id)", identity: .account, key: key, isRepeatable: true))
    }

    private func issueToken(_ path: String, _ user: Credentials.User) async throws -> Account {
        let body = try Request.encoded(Credentials(user: user))
        let issued: IssuedToken = try await requester.value(
            Request(method: "POST", path: path, identity: .nobody, body: body, isRepeatable: false))
        try await requester.identity.adopt(issued.token)
        requester.forgetUser()
        return Account(id: issued.id)
    }
}

/// A person with an e-mail address and a password.
public struct Account: Sendable, Hashable, Identifiable {
    public typealias ID = Identifier<Account>

    public var id: ID

    public init(id: ID) { self.id = id }
}

/// A thing to do. Swift has a `Task` already.
public struct TodoTask: Sendable, Hashable, Identifiable, Codable {
    public typealias ID = Identifier<TodoTask>

    public var id: ID
    public var title: String
    public var isCompleted: Bool

    public init(id: ID, title: String, isCompleted: Bool = false) {
        self.id = id
        self.title = title
        self.isCompleted = isCompleted
    }

    private enum CodingKeys: String, CodingKey {
        case id, title
        case isCompleted = "completed"
    }
}

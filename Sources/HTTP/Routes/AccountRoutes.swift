internal import Accounts
internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

extension Module {
    public static let accounts = Module(
        .accounts, of: .tasks, make: { AccountsModule($0) }, routes: { AccountRoutes(accounts: $0, api: $1).all })
}

private struct AccountRoutes: Sendable {
    let accounts: AccountsModule
    let api: API
    private let addresses: RateLimiter
    private let emails: RateLimiter
    private let changes: RateLimiter

    init(accounts: AccountsModule, api: API) {
        (self.accounts, self.api) = (accounts, api)
        addresses = RateLimiter(perMinute: api.settings.signInsPerMinute, now: api.rateClock)
        emails = RateLimiter(perMinute: api.settings.accountSignInsPerMinute, now: api.rateClock)
        // Each change and each erasure compares a password, as a sign-in does.
        changes = RateLimiter(perMinute: api.settings.accountSignInsPerMinute, now: api.rateClock)
    }

    var all: [Route] {
        // With the map of events, the route of the devices signs accounts up, too.
        (api.apps.contains(.events) ? [] : [signUp(AccountSignUps(api))]) + [
            Route(.post, "/v1/users/sign_in", "signIn", limit: .authenticating, signIn),
            Route(.delete, "/v1/users/sign_out", "signOut", signOut),
            Route(.put, "/v1/users/password", "changePassword", limit: .authenticating, changePassword),
            Route(.delete, "/v1/accounts/me", "eraseAccount", limit: .authenticating, eraseAccount),
        ]
    }

    private func signUp(_ signUps: AccountSignUps) -> Route {
        Route(.post, "/v1/users", "createUser", limit: .authenticating) { request, context in
            guard let response = try await signUps.response(to: request, context) else { throw HTTPError.hidden }
            return response
        }
    }

    private func signIn(_ request: Request, _ context: RequestContext) async throws -> Response {
        try addresses.take(context.sender(of: request).address?.subscriber)
        let fields = try request.fields(allowing: [.json, .form])
        let command = SignIn(fields.json["user"])
        // An address without an account is limited too, so that the limit does not tell which addresses have one.
        if let email = command.email { try emails.take(email) }
        let issued = try await accounts.signIn(
            command, from: context.hashingClient(of: request), context: request.commandContext(context))
        return await api.response(issued)
    }

    private func signOut(_ request: Request, _ context: RequestContext) async throws -> Response {
        let fields = try request.fields(allowing: [.json, .form])
        let caller = try api.requireAccountToken(request, context, body: fields.json, inQuery: true)
        _ = try await api.account(of: caller)
        let position = try await accounts.signOut(caller.token, context: request.commandContext(context))
        return await api.response([:], recordedAt: position)
    }

    /// Takes no idempotency key: the log keeps a fast digest of a request with a key, which would tell a guess of the passwords in it.
    private func changePassword(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (command, caller) = try await proof(request, context, ChangePassword.init)
        let (account, position) = try await accounts.changePassword(
            command, by: caller.token, from: context.hashingClient(of: request), context: request.commandContext(context))
        return await api.response(["id": JSON(account.rawValue)], recordedAt: position)
    }

    /// Takes no idempotency key, as the change of the password.
    private func eraseAccount(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (command, caller) = try await proof(request, context, EraseAccount.init)
        let erasure = try await accounts.erase(
            command, by: caller.token, from: context.hashingClient(of: request), context: request.commandContext(context))
        return await api.response(erasure)
    }

    /// Reads a command that needs token and password. Its limits are those of a sign-in.
    private func proof<Command>(
        _ request: Request, _ context: RequestContext, _ read: (JSON?) throws -> Command
    ) async throws -> (command: Command, caller: TokenSender<AccountToken>) {
        try addresses.take(context.sender(of: request).address?.subscriber)
        let fields = try request.fields(allowing: [.json, .form])
        let caller = try api.requireAccountToken(request, context, body: fields.json)
        let command = try read(fields.json["user"])
        try changes.take(try await api.account(of: caller))
        return (command, caller)
    }
}

/// Signs accounts up. The path is the device sign-up's: the body tells the two apart.
struct AccountSignUps: Sendable {
    private let api: API
    private let addresses: RateLimiter

    init(_ api: API) {
        self.api = api
        addresses = RateLimiter(perMinute: api.settings.signInsPerMinute, now: api.rateClock)
    }

    /// - Returns: `nil` for a request without a `user` object in its body, which is a device's
    /// - Throws: `HTTPError.tooManyRequests`, and the errors of `AccountsModule.signUp(_:context:)`
    func response(to request: Request, _ context: RequestContext) async throws -> Response? {
        guard request.body.readableBytes > 0,
            // A device's body may be anything, so that an unreadable one is none of an account.
            let fields = try? request.fields(allowing: [.json, .form]).json["user"],
            case .object = fields
        else { return nil }
        let subscriber = api.subscriber(request, context)
        try addresses.take(subscriber)
        try api.limits.dailySignUps.take(subscriber)
        let issued = try await api.accounts.signUp(
            SignUp(fields), from: context.hashingClient(of: request), context: request.commandContext(context))
        return await api.response(issued)
    }
}

extension RequestContext {
    /// The name of the client in the queue of hashes: its IPv4 address or the first 64 bits of its IPv6 address.
    fileprivate func hashingClient(of request: Request) -> String { sender(of: request).address?.subscriber.description ?? "" }
}

extension Request {
    /// The account token in `tb-auth-token`, in `Authorization: Bearer`, in the query or in the body, in this order. `nil` without one.
    /// - Parameter takesQuery: whether the query counts. URLs end in logs, so it counts only where the old client's library has no other
    ///   place for the token (GET and DELETE), and where that client sends it twice (POST of a task)
    /// - Throws: `HTTPError.badRequest(_:)` if the query is not readable
    func accountToken(body: JSON = [:], inQuery takesQuery: Bool = false) throws(HTTPError) -> AccountToken? {
        let name = "authentication_token"
        var sent = [headers.value(of: .authToken), bearerToken]
        let query = try queryFields()[name]
        for field in [takesQuery ? query : nil, body[name]] {
            if case .string(let text) = field { sent.append(text) }
        }
        return sent.compactMap { $0 }.first { !$0.isEmpty }.map(AccountToken.init(secret:))
    }
}

extension API {
    /// Two names for one value: clients read `authentication_token` or `token`.
    fileprivate func response(_ issued: IssuedToken) async -> Response {
        let token = JSON.string(issued.token.secret)
        return await response(
            ["id": JSON(issued.account.rawValue), "authentication_token": token, "token": token], recordedAt: issued.position)
    }
}

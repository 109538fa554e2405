internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension Module {
    public static let users = Module(
        .users, of: .events, make: { UsersModule($0) }, routes: { UserRoutes($0, $1).all })
}

extension FieldError {
    fileprivate static let tokenBesideKey = FieldError("device_token", .blank, "can't be blank beside an Idempotency-Key")
}

private struct UserRoutes: Sendable {
    private let users: UsersModule
    private let api: API
    private let signUps: RateLimiter
    private let accountSignUps: AccountSignUps?
    private let exports = UserExports()
    private let dailyExports: RateLimiter

    init(_ users: UsersModule, _ api: API) {
        self.users = users
        self.api = api
        dailyExports = RateLimiter(perDay: 10, now: api.rateClock)
        signUps = RateLimiter(perMinute: api.settings.signUpsPerMinute, now: api.rateClock)
        accountSignUps = api.apps.contains(.tasks) ? AccountSignUps(api) : nil
    }

    var all: [Route] {
        [
            Route(.post, "/v1/users", "createUser", limit: .authenticating, createUser),
            Route(.get, "/v1/users/me", "getUser", getUser),
            Route(.delete, "/v1/users/me", "eraseUser", eraseUser),
            Route(.get, "/v1/users/me/export", "exportUser", exportUser),
            Route(.post, "/v1/users/me/token", "rotateToken", rotateToken),
            Route(.get, "/v1/users/me/passes", "listPasses", listPasses),
            Route(.post, "/v1/users/me/passes", "issuePass", issuePass),
            Route(.delete, "/v1/users/me/passes/{kind}", "endPass", endPass),
            Route(.post, "/v1/users/return", "returnUser", limit: .authenticating, returnUser),
        ]
    }

    private func createUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        if let response = try await accountSignUps?.response(to: request, context) { return response }
        guard request.carries(api.settings.appSecret) else { throw HTTPError.hidden }
        let sent = try limited(request.deviceToken)
        // A key cannot stand for a token that the server keeps as a digest only, and a token of the client is a key already.
        guard sent != nil || !request.headers.contains(.idempotencyKey) else {
            throw HTTPError.invalid(errors: [.tokenBesideKey])
        }
        let subscriber = context.sender(of: request).address?.subscriber
        try signUps.take(subscriber)
        try api.limits.dailySignUps.take(subscriber)
        // The response to a token that another device chose would be a right guess.
        if sent?.canBeGuessed == true { try api.limits.unknownTokens.take(subscriber) }
        let (id, token, position) = try await users.signUp(with: sent, context: request.commandContext(context))
        return await api.response(credentials(id, token), recordedAt: position)
    }

    private func getUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        Response(json: ["id": JSON(try await api.caller(request, context).rawValue)])
    }

    private func exportUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        let user = try await api.caller(request, context)
        try dailyExports.take(user)
        return try await exports.response(user, from: users)
    }

    /// Takes no idempotency key: a repetition with the dead token gets the same answer.
    private func eraseUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        do {
            let (erasure, _) = try await api.withCaller(device, request.commandContext(context)) { user, context in
                try await users.erase(user, by: user, context: context)
            }
            return await api.response(erasure)
        } catch let error as HTTPError where error.status == .unauthorized {
            guard let erasure = try await users.erasure(of: device.token) else { throw error }
            return await api.response(erasure)
        }
    }

    /// Takes no idempotency key: the new token is one.
    private func rotateToken(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let fields = try request.fields(allowing: [.json, .form])
        let new = try newToken(fields.json["device_token"])
        let (id, token, position) = try await api.withRotation(device) {
            try await users.rotate(device.token, to: new, context: request.commandContext(context))
        }
        return await api.response(credentials(id, token), recordedAt: position)
    }

    private func listPasses(_ request: Request, _ context: RequestContext) async throws -> Response {
        let passes = try await users.passes(of: try await api.caller(request, context))
        let list = passes.map { pass -> JSON in
            [
                "kind": .string(pass.kind.rawValue), "issued_at": .string(pass.issuedAt.description),
                "expires_at": JSON(pass.expiresAt?.description),
            ]
        }
        return Response(json: .array(list))
    }

    /// Takes no idempotency key: the server could not return the secret again. A repetition replaces the pass.
    private func issuePass(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        guard let kind = PassKind(rawValue: try texts(["kind"], of: request)[0]) else {
            throw HTTPError.invalid(errors: [.notAChoice("kind", PassKind.allCases.map(\.rawValue))])
        }
        let issued = try await api.withCaller(device, request.commandContext(context)) { user, context in
            try await users.issuePass(kind, to: user, context: context)
        }
        let pass: JSON = [
            "kind": .string(kind.rawValue), "pass": .string(issued.secret.text),
            "expires_at": JSON(issued.expiresAt?.description),
        ]
        return await api.response(pass, recordedAt: issued.position)
    }

    private func endPass(_ request: Request, _ context: RequestContext) async throws -> Response {
        let device = try api.requireDevice(request, context)
        let kind = PassKind(rawValue: String(context.parameter))
        let position = try await api.withCaller(device, request.commandContext(context)) { user, context in
            guard let kind else { throw HTTPError.notFound }
            return try await users.endPass(kind, of: user, context: context)
        }
        return await api.response([:], recordedAt: position)
    }

    /// Takes no idempotency key: pass and token are one.
    private func returnUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard request.carries(api.settings.appSecret) else { throw HTTPError.hidden }
        try api.limits.takeReturn(from: api.subscriber(request, context))
        let texts = try texts(["pass", "device_token"], of: request)
        let token = DeviceToken(secret: texts[1])
        let (id, position) = try await users.comeBack(
            with: PassSecret(typed: texts[0]), as: token, context: request.commandContext(context))
        return await api.response(credentials(id, token), recordedAt: position)
    }

    /// Reads fields of a body that must be texts, none of them longer than a token.
    private func texts(_ names: [String], of request: Request) throws -> [String] {
        let fields = try request.fields(allowing: [.json, .form]).json
        var errors: [FieldError] = []
        let texts = names.map { name in
            errors.text(fields[name], name, limit: DeviceToken.lengthLimit, isRequired: true, at: "/\(name)") ?? ""
        }
        guard errors.isEmpty else { throw HTTPError.invalid(errors: errors) }
        return texts
    }

    /// The token that a client chose; `nil` if the server is to choose one.
    private func newToken(_ field: JSON?) throws(HTTPError) -> DeviceToken? {
        switch field {
        case nil, .null: return nil
        case .string(let secret): return try limited(DeviceToken(secret: secret))
        case .bool, .number, .array, .object: throw .invalid(errors: [.notAText("device_token")])
        }
    }

    private func limited(_ token: DeviceToken?) throws(HTTPError) -> DeviceToken? {
        guard token?.secret.utf8.count ?? 0 <= DeviceToken.lengthLimit else {
            throw .invalid(errors: [.tooLong("device_token", maximum: DeviceToken.lengthLimit, "bytes")])
        }
        return token
    }

    /// Two names for one value: older clients read `auth_token`.
    private func credentials(_ id: UserID, _ token: DeviceToken) -> JSON {
        ["id": JSON(id.rawValue), "device_token": .string(token.secret), "auth_token": .string(token.secret)]
    }
}

internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension APIModule {
    public static let users = APIModule(.users, make: { UsersModule($0) }, routes: { UserRoutes($0, $1).all })
}

private struct UserRoutes: Sendable {
    private let users: UsersModule
    private let appSecret: AppSecret
    private let signUps: RateLimiter?

    init(_ users: UsersModule, _ api: API) {
        self.users = users
        appSecret = api.settings.appSecret
        signUps = RateLimiter("sign-ups", perMinute: api.settings.signUpsPerMinute)
    }

    var all: [Route] { [Route(.post, "/v1/users", "createUser", createUser)] }

    private func createUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard request.carries(appSecret) else { throw HTTPError.hidden }
        let sent = request.deviceToken
        guard sent?.secret.utf8.count ?? 0 <= DeviceToken.lengthLimit else {
            throw HTTPError.invalid(errors: [.tooLong("device_token", maximum: DeviceToken.lengthLimit, "bytes")])
        }
        let allowance = try signUps?.take(context.sender(of: request).address?.subscriber)
        let (id, token, position) = try await users.signUp(with: sent, context: request.commandContext(context))
        // Two names for one value: older clients read `auth_token`.
        return Response(
            json: ["id": JSON(id.rawValue), "device_token": .string(token.secret), "auth_token": .string(token.secret)],
            recordedAt: position, allowance)
    }
}

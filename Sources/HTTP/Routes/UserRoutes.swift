internal import Encoding
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension API {
    var userRoutes: [Route] { [Route(.post, "/v1/users", "createUser", createUser)] }

    private func createUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard request.carries(settings.appSecret) else { throw HTTPError.hidden }
        let sent = request.deviceToken
        guard sent?.secret.utf8.count ?? 0 <= DeviceToken.lengthLimit else {
            throw HTTPError.invalid(faults: ["Device token is too long (maximum is \(DeviceToken.lengthLimit) bytes)"])
        }
        let allowance = try signUps?.take(context.sender(of: request).address?.subscriber)
        let (id, token, position): (UserID, DeviceToken, Int64)
        do {
            (id, token, position) = try await users.signUp(with: sent, context: request.commandContext(context))
        } catch is MalformedToken {
            throw HTTPError.invalid(faults: ["Device token must consist of printable ASCII characters"])
        }
        // Two names for one value: generations of clients read one or the other.
        return Response(
            json: ["id": JSON(id.rawValue), "device_token": .string(token.secret), "auth_token": .string(token.secret)],
            recordedAt: position, allowance)
    }
}

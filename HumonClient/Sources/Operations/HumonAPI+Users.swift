extension HumonAPI {
    /// Signs this device up, or gives the user that it already is.
    ///
    /// The client makes a random token and stores it before the request, so that an app may call this function at every start.
    /// - Throws: ``HumonError``, with `notFound` for a wrong secret of the app; `CancellationError`; an error of the token store
    @discardableResult
    public func signUp() async throws -> User {
        let token = try await requester.identity.tokenForSignUp()
        return try await requester.value(
            Request(
                method: "POST", path: "/v1/users", identity: .newDevice(secret: appSecret, token: token), isRepeatable: true))
    }

    /// The user that this device is.
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    public func me() async throws -> User { try await requester.value(.get("/v1/users/me", by: .device)) }

    /// Replaces the token of this device. From the response on every server refuses the old one.
    ///
    /// The new token is stored before the request. If no response arrives, call this function again, also after a new start of the
    /// app: it continues with the same new token.
    /// - Throws: ``HumonError``; `CancellationError`; an error of the token store
    @discardableResult
    public func rotateToken() async throws -> User {
        let (_, next) = try await requester.identity.tokensForRotation()
        var request = Request(method: "POST", path: "/v1/users/me/token", identity: .device, isRepeatable: true)
        request.body = try Request.encoded(["device_token": next])
        let user: User
        do {
            user = try await requester.value(request)
        } catch HumonError.unauthorized(let problem) {
            // Another call of this function, or another process, may have finished the rotation.
            guard try await requester.identity.reloadedTokens()?.current == next else { throw HumonError.unauthorized(problem) }
            return try await me()
        }
        try await requester.identity.finishRotation(to: next)
        return user
    }

    /// Erases this user for ever: the server forgets the events, the attendances and the token. At its next sign-up the device is a new
    /// user. The device keeps its token until the server has said that the user is erased. After a lost response, the repetition gets that
    /// answer again.
    /// - Throws: ``HumonError``, with `unauthorized` for a token that was replaced or revoked; `CancellationError`; an error of the token
    ///   store
    public func eraseUser() async throws {
        _ = try await requester.send(Request(method: "DELETE", path: "/v1/users/me", identity: .device, isRepeatable: true))
        try await forgetDevice()
    }

    /// Forgets the token of this device, which then is a new user at its next sign-up. The server keeps the old user.
    /// - Throws: an error of the token store
    public func forgetDevice() async throws {
        try await requester.identity.forget()
        requester.forgetUser()
    }
}

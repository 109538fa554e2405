public import Foundation

extension HumonAPI {
    private struct ErasureState: Decodable, Sendable { var state: String }

    /// Signs this device up, or gives the user that it already is.
    ///
    /// The client makes a random token and stores it before the request, so that an app may call this function at every start.
    /// - Throws: the code `notFound` for a wrong secret of the app
    @discardableResult
    public func signUp() async throws -> User {
        let token = try await requester.identity.tokenForSignUp()
        return try await requester.value(
            Request(
                method: "POST", path: "/v1/users", identity: .newDevice(secret: appSecret, token: token), isRepeatable: true))
    }

    /// The user that this device is.
    /// - Throws: as ``HumonAPI`` says
    public func me() async throws -> User { try await requester.value(.get("/v1/users/me", by: .device)) }

    /// Everything that the server stores of this user, as JSON: at most 16 MB. A user with more needs another program, such as `curl`.
    /// - Throws: `unusableResponse` if the server broke off
    public func exportUser() async throws -> Data {
        let export = try await requester.send(.get("/v1/users/me/export", by: .device)).body
        do { _ = try JSONSerialization.jsonObject(with: export) } catch {
            throw HumonError.unusableResponse("the export is not complete")
        }
        return export
    }

    /// Replaces the token of this device. From the response on every server refuses the old one.
    ///
    /// The new token is stored before the request. If no response arrives, call this function again, also after a new start of the
    /// app: it continues with the same new token.
    /// - Throws: as ``HumonAPI`` says
    @discardableResult
    public func rotateToken() async throws -> User {
        let (_, next) = try await requester.identity.tokensForRotation()
        var request = Request(method: "POST", path: "/v1/users/me/token", identity: .device, isRepeatable: true)
        request.body = try Request.encoded(["device_token": next])
        let user: User
        do {
            user = try await requester.value(request)
        } catch HumonError.refused(let problem) where problem.status == 401 {
            // Another call of this function, or another process, may have finished the rotation.
            guard try await requester.identity.reloadedTokens()?.current == next else { throw HumonError.refused(problem) }
            return try await me()
        }
        try await requester.identity.finishRotation(to: next)
        return user
    }

    /// Makes a pass, in place of the present one of that kind. Only the returned value has its secret.
    /// - Throws: as ``HumonAPI`` says
    public func issuePass(_ kind: Pass.Kind) async throws -> Pass {
        // A repetition replaces the pass whose response was lost.
        var request = Request(method: "POST", path: "/v1/users/me/passes", identity: .device, isRepeatable: true)
        request.body = try Request.encoded(["kind": kind])
        return try await requester.value(request)
    }

    /// The passes of this user.
    /// - Throws: as ``HumonAPI`` says
    public func passes() async throws -> [Pass] { try await requester.value(.get("/v1/users/me/passes", by: .device)) }

    /// Ends the pass of a kind, if there is one.
    /// - Throws: the code `notFound` for a kind that the server does not know
    public func endPass(_ kind: Pass.Kind) async throws {
        _ = try await requester.send(
            Request(method: "DELETE", path: "/v1/users/me/passes/\(kind.rawValue)", identity: .device, isRepeatable: true))
    }

    /// Makes this device that of the user of a pass. From the response on every server refuses the token of the user's device before.
    /// The user that this device was keeps its events, and nobody can change them any more.
    ///
    /// The new token is stored before the request. If no response arrives, call this function again with the same pass, also after a new
    /// start of the app.
    /// - Parameter secret: of the pass, as the user typed it: case, spaces and hyphens do not count
    /// - Throws: the code `notFound` for a pass that is unknown, replaced, ended, used or expired, and for a wrong secret of the app
    @discardableResult
    public func comeBack(with secret: String) async throws -> User {
        let token = try await requester.identity.tokenForReturn()
        do { return try await comeBack(with: secret, as: token) } catch let error as HumonError
            where error.problem?.error(at: "/device_token") != nil
        {
            // The response to an earlier return was lost, and another device has taken the place of this one since.
            return try await comeBack(with: secret, as: try await requester.identity.tokenForReturn(insteadOf: token))
        }
    }

    private func comeBack(with secret: String, as token: String) async throws -> User {
        let identity = Request.Identity.newDevice(secret: appSecret, token: token)
        var request = Request(method: "POST", path: "/v1/users/return", identity: identity, isRepeatable: true)
        request.body = try Request.encoded(["device_token": token, "pass": secret])
        let user: User = try await requester.value(request)
        try await requester.identity.finishRotation(to: token)
        return user
    }

    /// Erases this user for ever: the server forgets the events, the attendances and the token. At its next sign-up the device is a new
    /// user.
    ///
    /// The device keeps its token, which is dead, until the server has said that nothing is left of the user: a repetition with the dead
    /// token tells. So do repetitions by this function, ten at most, each of which the server answers within ten seconds. Then the function
    /// throws `erasing`, and the token stays: call the function again, or ask ``isErased(_:)``.
    /// - Throws: `erasing`, and the code `unauthorized` for a token that was replaced or revoked
    public func eraseUser() async throws {
        let request = Request(method: "DELETE", path: "/v1/users/me", identity: .device, isRepeatable: true, mayGoOn: true)
        var response = try await requester.send(request)
        for _ in 1...10 where response.head.status == 202 {
            try await requester.sleep(.seconds(response.head["retry-after"].flatMap { Int($0) } ?? 1))
            response = try await requester.send(request)
        }
        guard response.head.status == 200 else {
            throw HumonError.erasing(id: response.head["location"]?.split(separator: "/").last.map(String.init) ?? "")
        }
        try await requester.identity.forget()
    }

    /// Whether nothing is left of a person whose erasure takes longer. Needs no token.
    /// - Parameter erasure: the id of the erasure, from the `Location` of the response 202
    /// - Throws: the code `notFound` for an unknown id
    public func isErased(_ erasure: String) async throws -> Bool {
        let found: ErasureState = try await requester.value(.get("/v1/erasures/\(erasure)", by: .nobody))
        return found.state != "erasing"
    }

    /// Forgets the token of this device, which then is a new user at its next sign-up. The server keeps the old user.
    /// - Throws: an error of the token store
    public func forgetDevice() async throws { try await requester.identity.forget() }
}

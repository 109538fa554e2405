import Encoding
import HTTPTypes

extension TestAPI {
    static let password = "correct horse"

    /// Signs an account up by a form, and returns its token.
    func signUpAccount(_ email: String = "ann@example.org") async throws -> String {
        let answer = try await send(
            .post, "/v1/users.json", type: form, "user[name]=Ann&user[email]=\(email)&user[password]=\(Self.password)")
        guard answer.status == 200, case .string(let token) = answer.json?["authentication_token"] else {
            throw UnexpectedAnswer(answer: answer)
        }
        return token
    }

    func signIn(_ email: String = "ann@example.org", _ password: String = password) async throws -> Answer {
        try await send(.post, "/v1/users/sign_in", type: form, "user[email]=\(email)&user[password]=\(password)")
    }

    /// The status of a list of tasks with these header fields.
    func listTasks(_ headers: [String: String]) async throws -> Int {
        try await send(.get, "/v1/tasks", headers: headers).status
    }
}

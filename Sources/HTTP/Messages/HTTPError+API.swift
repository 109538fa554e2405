internal import Encoding
internal import EventStore
internal import HTTPServer
internal import HTTPTypes

/// The errors of this API.
extension HTTPError {
    /// 401 with an empty body.
    static let unauthorized = HTTPError(.unauthorized, body: nil)
    /// 404 with an empty body, so that the route looks as if it were not there.
    static let hidden = HTTPError(.notFound, body: nil)
    /// 422: one sentence for each validation error.
    static func invalid(errors: [String]) -> HTTPError {
        HTTPError(
            .unprocessableContent, body: ["message": "Validation Failed", "errors": .array(errors.map(JSON.string))])
    }

    /// Maps the kind of a rejection to a status and a body. No module has another mapping.
    init(_ rejection: any Rejection) {
        self =
            switch rejection.kind {
            case .invalid(let errors): .invalid(errors: errors)
            case .unauthorized: .unauthorized
            case .forbidden: HTTPError(.forbidden, "Forbidden")
            case .notFound: .notFound
            case .gone: HTTPError(.gone, "Gone")
            case .conflict: HTTPError(.conflict, "Conflict")
            case .preconditionFailed: .preconditionFailed
            case .keyReused: .invalid(errors: ["Idempotency-Key was used for another request"])
            }
        if let message = rejection.message { body = ["message": .string(message)] }
    }
}

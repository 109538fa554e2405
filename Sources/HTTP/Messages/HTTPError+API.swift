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
    /// 422: the plain body has a sentence for each validation error, problem details have also its field and its code.
    static func invalid(errors: [FieldError]) -> HTTPError {
        let fields = errors.map { error -> JSON in
            ["pointer": .string(error.pointer), "code": .string(error.code.rawValue), "detail": .string(error.detail)]
        }
        return HTTPError(
            .unprocessableContent, code: .validationFailed, body: validationFailed(errors.map(\.detail)),
            extensions: JSONObject(members: [JSONObject.Member(name: "errors", value: .array(fields))]))
    }
    /// 422: the idempotency key of the request belongs to another request.
    static let keyReused = {
        let detail = "Idempotency-Key was used for another request"
        return HTTPError(
            .unprocessableContent, code: .idempotencyKeyReused, body: validationFailed([detail]), detail: detail)
    }()

    private static func validationFailed(_ sentences: [String]) -> JSON {
        ["message": "Validation Failed", "errors": .array(sentences.map(JSON.string))]
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
            case .keyReused: .keyReused
            }
        if let code = rejection.code { self.code = ErrorCode(code) }
        if let message = rejection.message {
            body = ["message": .string(message)]
            detail = message
        }
    }
}

/// The codes of this API's errors, where the status alone does not name the reason.
extension ErrorCode {
    static let validationFailed = ErrorCode("validation_failed")
    static let idempotencyKeyReused = ErrorCode("idempotency_key_reused")
    static let malformedBody = ErrorCode("malformed_body")
    static let malformedIdempotencyKey = ErrorCode("malformed_idempotency_key")
    static let malformedPosition = ErrorCode("malformed_position")
    static let positionNotReached = ErrorCode("position_not_reached")
    static let indexNotInUse = ErrorCode("index_not_in_use")
    static let indexFull = ErrorCode("index_full")
    static let stopping = ErrorCode("stopping")
    static let databaseUnavailable = ErrorCode("database_unavailable")
}

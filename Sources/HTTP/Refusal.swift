internal import Attendances
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Notation

/// Why a request is not carried out, in the API's words.
enum Refusal: Error, Hashable {
    /// 400; the body is not what its content type says.
    case badRequest(String)
    /// 400; the bytes are not HTTP.
    case malformed
    /// 401 with an empty body.
    case unauthorized
    case forbidden
    case notFound
    /// 404 with an empty body: the route hides itself.
    case hidden
    case methodNotAllowed(allowed: [HTTPRequest.Method])
    /// 408; the request did not arrive in time.
    case tooSlow
    case contentTooLarge(limitBytes: Int)
    /// 414
    case targetTooLong(limitBytes: Int)
    case unsupportedMediaType(String)
    /// 412; the thing has another version than `If-Match` says.
    case preconditionFailed
    /// 422; one line a fault.
    case invalid(faults: [String])
    /// 429; who asks has asked too often.
    case tooMany(RateAllowance)
    /// 431
    case headersTooLarge(limitBytes: Int)
    case `internal`
    /// 503 with `Retry-After`.
    case unavailable
    /// 503 as well; more is asked than the node can do.
    case overloaded
}

extension Refusal {
    static let retryAfterSeconds = 1
    static let keyReused = Refusal.invalid(faults: ["Idempotency-Key was used for another request"])

    var status: HTTPResponse.Status {
        switch self {
        case .badRequest, .malformed: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound, .hidden: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .tooSlow: .requestTimeout
        case .contentTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .unsupportedMediaType: .unsupportedMediaType
        case .preconditionFailed: .preconditionFailed
        case .invalid: .unprocessableContent
        case .tooMany: .tooManyRequests
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .internal: .internalServerError
        case .unavailable, .overloaded: .serviceUnavailable
        }
    }

    private var message: JSON? {
        switch self {
        case .unauthorized, .hidden: nil
        case .badRequest(let message), .unsupportedMediaType(let message): ["message": .string(message)]
        case .malformed: ["message": "The request is not HTTP"]
        case .forbidden: ["message": "Forbidden"]
        case .notFound: ["message": "Not Found"]
        case .methodNotAllowed: ["message": "Method Not Allowed"]
        case .tooSlow: ["message": "The request did not arrive in time"]
        case .targetTooLong(let limit): ["message": .string("The path and the query are longer than \(limit) bytes")]
        case .headersTooLarge(let limit):
            ["message": .string("The request line and the header fields are larger than \(limit) bytes")]
        case .tooMany: ["message": "Too Many Requests"]
        case .contentTooLarge(let limit): ["message": .string("The body is larger than \(limit) bytes")]
        case .preconditionFailed: ["message": "Precondition Failed"]
        case .invalid(let faults): ["message": "Validation Failed", "errors": .array(faults.map(JSON.string))]
        case .internal: ["message": "Internal Server Error"]
        case .unavailable, .overloaded: ["message": "Service Unavailable"]
        }
    }

    var answer: Answer {
        var answer = message.map { Answer(status: status, json: $0) } ?? Answer(status: status)
        switch self {
        case .methodNotAllowed(let allowed): answer.headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .unavailable, .overloaded: answer.headers[.retryAfter] = String(Self.retryAfterSeconds)
        case .tooMany(let allowance):
            answer.headers[.retryAfter] = String(allowance.retryAfterSeconds)
            answer.tell(allowance)
        case .badRequest, .malformed, .unauthorized, .forbidden, .notFound, .hidden, .tooSlow, .contentTooLarge, .targetTooLong,
            .unsupportedMediaType, .preconditionFailed, .invalid, .headersTooLarge, .internal:
            break
        }
        return answer
    }
}

extension Refusal {
    init(_ rejection: EventRejection) {
        switch rejection {
        case .invalid(let faults): self = .invalid(faults: faults)
        case .notFound: self = .notFound
        case .forbidden: self = .forbidden
        case .changedMeanwhile: self = .preconditionFailed
        case .keyReused: self = .keyReused
        }
    }

    init(_ rejection: AttendanceRejection) {
        switch rejection {
        case .unknownEvent: self = .notFound
        case .keyReused: self = .keyReused
        }
    }
}

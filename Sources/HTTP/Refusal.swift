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
    /// 401 with an empty body.
    case unauthorized
    case forbidden
    case notFound
    /// 404 with an empty body: the route hides itself.
    case hidden
    case methodNotAllowed(allowed: [HTTPRequest.Method])
    case contentTooLarge(limitBytes: Int)
    case unsupportedMediaType(String)
    /// 412; the thing has another version than `If-Match` says.
    case preconditionFailed
    /// 422; one line a fault.
    case invalid(faults: [String])
    case `internal`
    /// 503 with `Retry-After`.
    case unavailable
}

extension Refusal: HTTPResponseError {
    static let retryAfterSeconds = 1
    static let keyReused = Refusal.invalid(faults: ["Idempotency-Key was used for another request"])

    var status: HTTPResponse.Status {
        switch self {
        case .badRequest: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound, .hidden: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .contentTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .preconditionFailed: .preconditionFailed
        case .invalid: .unprocessableContent
        case .internal: .internalServerError
        case .unavailable: .serviceUnavailable
        }
    }

    private var message: JSON? {
        switch self {
        case .unauthorized, .hidden: nil
        case .badRequest(let message), .unsupportedMediaType(let message): ["message": .string(message)]
        case .forbidden: ["message": "Forbidden"]
        case .notFound: ["message": "Not Found"]
        case .methodNotAllowed: ["message": "Method Not Allowed"]
        case .contentTooLarge(let limit): ["message": .string("The body is larger than \(limit) bytes")]
        case .preconditionFailed: ["message": "Precondition Failed"]
        case .invalid(let faults): ["message": "Validation Failed", "errors": .array(faults.map(JSON.string))]
        case .internal: ["message": "Internal Server Error"]
        case .unavailable: ["message": "Service Unavailable"]
        }
    }

    var response: Response {
        var response = message.map { Response(status: status, json: $0) } ?? Response(status: status)
        switch self {
        case .methodNotAllowed(let allowed): response.headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .unavailable: response.headers[.retryAfter] = String(Self.retryAfterSeconds)
        case .badRequest, .unauthorized, .forbidden, .notFound, .hidden, .contentTooLarge, .unsupportedMediaType,
            .preconditionFailed, .invalid, .internal:
            break
        }
        return response
    }

    func response(from request: Request, context: some RequestContext) -> Response { response }
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

extension Response {
    init(status: HTTPResponse.Status = .ok, json: JSON) { self.init(status: status, jsonBytes: ByteBuffer(bytes: json.utf8)) }

    /// - Parameter jsonBytes: a JSON text
    init(status: HTTPResponse.Status = .ok, jsonBytes: ByteBuffer) {
        self.init(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: jsonBytes)
        )
    }
}

public import Encoding
public import HTTPTypes
internal import NIOCore

/// An error that is a response: a status, the fields it needs, and a body. A handler throws it; the router sends it.
///
/// Clients that ask for problem details (RFC 9457) get the code, the detail and the extensions. All other clients get the plain body.
public struct HTTPError: Error, Hashable, Sendable {
    public var status: HTTPResponse.Status
    public var code: ErrorCode
    /// The plain body, as JSON; `nil` for an empty one.
    public var body: JSON?
    public var headers: HTTPFields
    /// A sentence about this occurrence. Problem details omit it if it says no more than the code and the status.
    public var detail: String?
    /// Further members of the problem details.
    public var extensions: JSONObject

    /// - Parameter code: `nil` for the code of the status
    public init(
        _ status: HTTPResponse.Status, code: ErrorCode? = nil, body: JSON?, headers: HTTPFields = [:], detail: String? = nil,
        extensions: JSONObject = JSONObject()
    ) {
        self.status = status
        self.code = code ?? ErrorCode(status)
        self.body = body
        self.headers = headers
        self.detail = detail
        self.extensions = extensions
    }

    /// The plain body is `{"message": …}`. The message is the detail, too.
    /// - Parameter code: `nil` for the code of the status
    public init(_ status: HTTPResponse.Status, code: ErrorCode? = nil, _ message: String, headers: HTTPFields = [:]) {
        self.init(status, code: code, body: ["message": .string(message)], headers: headers, detail: message)
    }

    /// The response with the plain body.
    public var response: Response {
        var response = body.map { Response(status: status, json: $0) } ?? Response(status: status)
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension HTTPError {
    /// The value of `Retry-After` in a 503.
    public static let retryAfterSeconds = 1

    public static func badRequest(_ message: String, code: ErrorCode) -> HTTPError {
        HTTPError(.badRequest, code: code, message)
    }
    /// 400: the bytes are not HTTP, or break a rule that makes their meaning unsure.
    public static let malformed = malformed("The request is not HTTP")
    static func malformed(_ message: String) -> HTTPError { .badRequest(message, code: .malformedRequest) }
    public static let notFound = HTTPError(.notFound, "Not Found")
    public static func methodNotAllowed(allowed: [HTTPRequest.Method]) -> HTTPError {
        HTTPError(.methodNotAllowed, "Method Not Allowed", headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")])
    }
    /// 408: the request did not arrive in time.
    public static let requestTimeout = HTTPError(.requestTimeout, "The request did not arrive in time")
    public static let preconditionFailed = HTTPError(.preconditionFailed, "Precondition Failed")
    public static func contentTooLarge(limitBytes: Int) -> HTTPError {
        HTTPError(.contentTooLarge, "The body is larger than \(limitBytes) bytes")
    }
    public static func targetTooLong(limitBytes: Int) -> HTTPError {
        HTTPError(.uriTooLong, code: .targetTooLong, "The path and the query are longer than \(limitBytes) bytes")
    }
    public static func unsupportedMediaType(_ message: String) -> HTTPError { HTTPError(.unsupportedMediaType, message) }
    /// 417: `Expect` names something other than `100-continue`.
    public static let expectationFailed = HTTPError(.expectationFailed, "Expectation Failed")
    public static func tooManyRequests(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(.tooManyRequests, "Too Many Requests", headers: [.retryAfter: String(retryAfterSeconds)])
    }
    public static func headersTooLarge(limitBytes: Int) -> HTTPError {
        HTTPError(
            .requestHeaderFieldsTooLarge, code: .headersTooLarge,
            "The request line and the header fields are larger than \(limitBytes) bytes")
    }
    public static let internalServerError = HTTPError(.internalServerError, "Internal Server Error")
    /// 501: no route and no standard knows the method or the transfer coding.
    public static let notImplemented = HTTPError(.notImplemented, "Not Implemented")
    /// 503: the same request may succeed later.
    /// - Parameter code: why it cannot succeed now
    public static func unavailable(_ code: ErrorCode) -> HTTPError {
        HTTPError(
            .serviceUnavailable, code: code, "Service Unavailable", headers: [.retryAfter: String(retryAfterSeconds)])
    }
    /// 503: the request is beyond a limit of the server.
    public static let overloaded = unavailable(.overloaded)
    /// 503: the response was not ready in time.
    public static let responseTimeout = unavailable(.responseTimeout)
    /// 505
    public static let versionNotSupported = HTTPError(
        .httpVersionNotSupported, code: .versionNotSupported, "HTTP Version Not Supported")
}

/// The stable name of a reason for an error, in snake case. A program decides by it; a person reads the title and the detail.
public struct ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The name in problem details.
    public let description: String

    public init(_ name: String) { description = name }

    /// The code of a status that has one reason only: its reason phrase, as in `not_found`.
    public init(_ status: HTTPResponse.Status) {
        description = status.reasonPhrase.lowercased().replacing(" ", with: "_")
    }

    /// The summary for people, which is the same for every error with this code: `Not found`.
    var title: String { description.prefix(1).uppercased() + description.dropFirst().replacing("_", with: " ") }
}

/// The codes of the server's errors, where the status alone does not name the reason.
extension ErrorCode {
    public static let malformedQuery = ErrorCode("malformed_query")
    public static let malformedRequest = ErrorCode("malformed_request")
    public static let targetTooLong = ErrorCode("target_too_long")
    public static let headersTooLarge = ErrorCode("headers_too_large")
    public static let overloaded = ErrorCode("overloaded")
    public static let responseTimeout = ErrorCode("response_timeout")
    public static let versionNotSupported = ErrorCode("version_not_supported")
}

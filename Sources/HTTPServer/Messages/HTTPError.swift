public import Encoding
public import HTTPTypes
internal import NIOCore

/// An error that is a response: a status, the fields it needs, and a JSON body. A handler throws it; the router sends it.
public struct HTTPError: Error, Hashable, Sendable {
    public var status: HTTPResponse.Status
    /// `nil` for an empty body.
    public var body: JSON?
    public var headers: HTTPFields

    public init(_ status: HTTPResponse.Status, body: JSON?, headers: HTTPFields = [:]) {
        self.status = status
        self.body = body
        self.headers = headers
    }

    /// The body is `{"message": …}`.
    public init(_ status: HTTPResponse.Status, _ message: String, headers: HTTPFields = [:]) {
        self.init(status, body: ["message": .string(message)], headers: headers)
    }

    public var response: Response {
        var response = body.map { Response(status: status, json: $0) } ?? Response(status: status)
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension HTTPError {
    /// The value of `Retry-After` in a 503.
    public static let retryAfterSeconds = 1

    public static func badRequest(_ message: String) -> HTTPError { HTTPError(.badRequest, message) }
    /// 400: the bytes are not HTTP, or break a rule that makes their meaning unsure.
    public static let malformed = HTTPError(.badRequest, "The request is not HTTP")
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
        HTTPError(.uriTooLong, "The path and the query are longer than \(limitBytes) bytes")
    }
    public static func unsupportedMediaType(_ message: String) -> HTTPError { HTTPError(.unsupportedMediaType, message) }
    /// 417: `Expect` names something other than `100-continue`.
    public static let expectationFailed = HTTPError(.expectationFailed, "Expectation Failed")
    public static func tooManyRequests(_ allowance: RateAllowance) -> HTTPError {
        var error = HTTPError(.tooManyRequests, "Too Many Requests")
        error.headers[.retryAfter] = String(allowance.retryAfterSeconds)
        error.headers.addRateLimitHeaders(allowance)
        return error
    }
    public static func headersTooLarge(limitBytes: Int) -> HTTPError {
        HTTPError(.requestHeaderFieldsTooLarge, "The request line and the header fields are larger than \(limitBytes) bytes")
    }
    public static let internalServerError = HTTPError(.internalServerError, "Internal Server Error")
    /// 501: no route and no standard knows the method or the transfer coding.
    public static let notImplemented = HTTPError(.notImplemented, "Not Implemented")
    /// 503: the same request may succeed later. Also the response of an overloaded server.
    public static let unavailable = HTTPError(
        .serviceUnavailable, "Service Unavailable", headers: [.retryAfter: String(retryAfterSeconds)])
    /// 505
    public static let versionNotSupported = HTTPError(.httpVersionNotSupported, "HTTP Version Not Supported")
}

public import Foundation

/// Why an operation failed.
///
/// Every refusal of the server is one of these cases, with its ``Problem``. A code that this version does not know becomes the case
/// of its status.
public enum HumonError: Error, Sendable, Hashable {
    /// The request breaks a rule of HTTP or of the API: 400, 405, 415, 417, 501, 505.
    case malformedRequest(Problem)
    /// The body, the address or the header fields are too large: 413, 414, 431.
    case tooLarge(Problem)
    /// Fields are missing or unusable. ``Problem/errors`` lists all of them, for the fields of a form.
    case validationFailed(Problem)
    /// The idempotency key belongs to another request. Use a new key for a new intent.
    case idempotencyKeyReused(Problem)

    /// The token is unknown, replaced or revoked. ``HumonAPI/forgetDevice()`` and a sign-up make a new user of the device.
    case unauthorized(Problem)
    /// The e-mail address or the password is wrong.
    case wrongCredentials(Problem)
    /// The caller does not own the event.
    case forbidden(Problem)
    /// The operation needs a token, and the store has none. Sign up first.
    case notSignedUp
    /// The token is dead, and the server still erases the rest. ``HumonAPI/isErased(_:)`` tells of the end.
    case erasing(id: String)

    /// The event does not exist, or is hidden. At a sign-up: the app's secret is missing or wrong.
    case notFound(Problem)
    /// The owner cancelled the event.
    case eventCancelled(Problem)
    /// An operator hides the event. Only its owner gets this error.
    case eventHidden(Problem)
    /// The resource was there and is gone for good.
    case gone(Problem)
    /// The request contradicts the present state.
    case conflict(Problem)
    /// The event has another version than the caller named. Read it, and decide again.
    case versionChanged(Problem)

    /// The client sends too many requests. ``Problem/retryAfterSeconds`` says when to try again.
    case tooManyRequests(Problem)
    /// The request did not arrive in time.
    case requestTimedOut(Problem)
    /// The server or its database is away, busy or stopping.
    case unavailable(Problem)
    /// The server has not reached the position of this client's last write.
    case positionNotReached(Problem)
    /// The server cannot stream changes at present.
    case indexNotInUse(Problem)
    /// The server failed. The outcome of a write is unknown.
    case serverFailed(Problem)
    /// A status that the API does not use, for example a redirection. The client follows none, because it would send the
    /// token along.
    case unexpected(Problem)

    /// No response arrived. The outcome of a write is unknown, unless no connection was made.
    case connectionFailed(URLError.Code)
    /// The response is not the one that the API promises, for example that of a captive portal.
    case unusableResponse(String)
    /// A value of the request cannot be sent, for example a coordinate that is not finite.
    case unusableValue(String)
    /// The region has more events than a stream of changes begins with. Choose a smaller one, or show clusters.
    case tooManyEvents(limit: Int)

    /// The server's reason, if the server gave one.
    public var problem: Problem? {
        switch self {
        case .malformedRequest(let problem), .tooLarge(let problem), .validationFailed(let problem),
            .idempotencyKeyReused(let problem), .unauthorized(let problem), .wrongCredentials(let problem),
            .forbidden(let problem), .notFound(let problem), .eventCancelled(let problem), .eventHidden(let problem),
            .gone(let problem), .conflict(let problem), .versionChanged(let problem), .tooManyRequests(let problem),
            .requestTimedOut(let problem), .unavailable(let problem), .positionNotReached(let problem),
            .indexNotInUse(let problem), .serverFailed(let problem), .unexpected(let problem):
            problem
        case .notSignedUp, .erasing, .connectionFailed, .unusableResponse, .unusableValue, .tooManyEvents: nil
        }
    }

    /// Whether the same request may succeed later.
    public var mayPass: Bool {
        switch self {
        case .tooManyRequests, .requestTimedOut, .unavailable, .positionNotReached, .indexNotInUse, .serverFailed: true
        case .connectionFailed(let code): !Self.lasting.contains(code)
        case .malformedRequest, .tooLarge, .validationFailed, .idempotencyKeyReused, .unauthorized, .wrongCredentials,
            .forbidden, .notSignedUp, .erasing, .notFound, .eventCancelled, .eventHidden, .gone, .conflict, .versionChanged,
            .unexpected, .unusableResponse, .unusableValue, .tooManyEvents:
            false
        }
    }

    /// Whether the server certainly did not carry the request out.
    var isUnsent: Bool {
        if case .tooManyRequests = self { return true }
        guard case .connectionFailed(let code) = self else { return false }
        return [.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet].contains(code)
    }

    /// The same request fails again for these reasons.
    private static let lasting: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
        .appTransportSecurityRequiresSecureConnection, .dataLengthExceedsMaximum,
    ]
}

extension HumonError {
    /// The case of a problem's code, or else of its status.
    init(_ problem: Problem) {
        self = (Self.codes[problem.code] ?? Self.kind(ofStatus: problem.status))(problem)
    }

    private typealias Kind = @Sendable (Problem) -> HumonError

    /// Codes that share their status with another kind. The status decides about all other codes.
    private static let codes: [String: Kind] = [
        "wrong_credentials": { .wrongCredentials($0) }, "event_cancelled": { .eventCancelled($0) },
        "event_hidden": { .eventHidden($0) }, "idempotency_key_reused": { .idempotencyKeyReused($0) },
        "position_not_reached": { .positionNotReached($0) }, "index_not_in_use": { .indexNotInUse($0) },
        "not_implemented": { .malformedRequest($0) }, "version_not_supported": { .malformedRequest($0) },
    ]

    private static func kind(ofStatus status: Int) -> Kind {
        switch status {
        case 401: { .unauthorized($0) }
        case 403: { .forbidden($0) }
        case 404: { .notFound($0) }
        case 408: { .requestTimedOut($0) }
        case 409: { .conflict($0) }
        case 410: { .gone($0) }
        case 412: { .versionChanged($0) }
        case 413, 414, 431: { .tooLarge($0) }
        case 422: { .validationFailed($0) }
        case 429: { .tooManyRequests($0) }
        // 502 and 504 come from a proxy.
        case 502, 503, 504: { .unavailable($0) }
        case 400..<500: { .malformedRequest($0) }
        case 500..<600: { .serverFailed($0) }
        default: { .unexpected($0) }
        }
    }
}

/// No description shows a token or a secret.
extension HumonError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .notSignedUp: "This device has not signed up"
        case .erasing(let id): "The server still erases the person (erasure \(id))"
        case .connectionFailed(let code): "The server gave no response (URL error \(code.rawValue))"
        case .unusableResponse(let reason): "The response cannot be used: \(reason)"
        case .unusableValue(let reason): "The request cannot be sent: \(reason)"
        case .tooManyEvents(let limit): "The region has more than \(limit) events"
        case .malformedRequest, .tooLarge, .validationFailed, .idempotencyKeyReused, .unauthorized, .wrongCredentials,
            .forbidden, .notFound, .eventCancelled, .eventHidden, .gone, .conflict, .versionChanged, .tooManyRequests,
            .requestTimedOut, .unavailable, .positionNotReached, .indexNotInUse, .serverFailed, .unexpected:
            problem?.description ?? ""
        }
    }
}

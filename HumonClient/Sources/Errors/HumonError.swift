public import Foundation

/// Why an operation failed. No description shows a token or a secret.
public enum HumonError: Error, Sendable, Hashable {
    /// The server refused the request. ``Problem/code`` says why, and a caller handles the codes that it knows.
    ///
    /// After a status of 500 or more the outcome of a write is unknown. The client follows no redirection, because it would send
    /// the token along, so a status of 3xx is a refusal too.
    case refused(Problem)
    /// The operation needs a token, and the store has none. Sign up first.
    case notSignedUp
    /// The token is dead, and the server still erases the rest. ``HumonAPI/isErased(_:)`` tells of the end.
    case erasing(id: String)
    /// No response arrived. The outcome of a write is unknown, unless no connection was made.
    case connectionFailed(URLError.Code)
    /// The response is not the one that the API promises, for example that of a captive portal.
    case unusableResponse(String)
    /// A value of the request cannot be sent, for example a coordinate that is not finite.
    case unusableValue(String)
    /// The region has more events than a stream of changes begins with. Choose a smaller one, or show clusters.
    case tooManyEvents(limit: Int)

    /// The server's reason, if the server refused.
    public var problem: Problem? { if case .refused(let problem) = self { problem } else { nil } }

    /// Whether the same request may succeed later.
    public var mayPass: Bool {
        switch self {
        case .refused(let problem):
            [408, 429].contains(problem.status)
                || 500...599 ~= problem.status && !Self.lastingStatuses.contains(problem.status)
        case .connectionFailed(let code): !Self.lasting.contains(code)
        case .notSignedUp, .erasing, .unusableResponse, .unusableValue, .tooManyEvents: false
        }
    }

    /// Whether the server certainly did not carry the request out.
    var isUnsent: Bool {
        switch self {
        case .refused(let problem): problem.status == 429
        case .connectionFailed(let code):
            [.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet].contains(code)
        case .notSignedUp, .erasing, .unusableResponse, .unusableValue, .tooManyEvents: false
        }
    }

    /// With these statuses the server says that it never will.
    private static let lastingStatuses: Set = [501, 505, 506, 508, 510, 511]

    /// The same request fails again for these reasons.
    private static let lasting: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
        .appTransportSecurityRequiresSecureConnection, .dataLengthExceedsMaximum,
    ]
}

extension HumonError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .refused(let problem): problem.description
        case .notSignedUp: "This device has not signed up"
        case .erasing(let id): "The server still erases the person (erasure \(id))"
        case .connectionFailed(let code): "The server gave no response (URL error \(code.rawValue))"
        case .unusableResponse(let reason): "The response cannot be used: \(reason)"
        case .unusableValue(let reason): "The request cannot be sent: \(reason)"
        case .tooManyEvents(let limit): "The region has more than \(limit) events"
        }
    }
}

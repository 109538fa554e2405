public import HTTPTypes

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
    public static let malformedRequest = ErrorCode("malformed_request")
    public static let targetTooLong = ErrorCode("target_too_long")
    public static let headersTooLarge = ErrorCode("headers_too_large")
    public static let overloaded = ErrorCode("overloaded")
    public static let responseTimeout = ErrorCode("response_timeout")
    public static let versionNotSupported = ErrorCode("version_not_supported")
}

internal import HTTPTypes
internal import Hummingbird

/// From which pages a browser may use the API.
public enum CORSOrigins: Sendable, Hashable {
    case none
    case all
    case these(Set<String>)

    /// - Parameter list: origins as browsers send them (`https://app.example.org`), between commas; or `*`
    /// - Returns: nil where one of them is none
    public init?(_ list: String) {
        if list == "*" {
            self = .all
            return
        }
        let origins = list.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmingSpaces) }
        guard origins.allSatisfy({ $0.wholeMatch(of: /https?:\/\/[^\/?#,\s]+/) != nil }) else { return nil }
        self = .these(Set(origins))
    }

    /// What the answer to a page of that origin says.
    fileprivate func allowed(_ origin: String) -> String? {
        switch self {
        case .none: nil
        case .all: "*"
        case .these(let origins): origins.contains(origin) ? origin : nil
        }
    }
}

/// Tells browsers which pages may ask, and what they may see of the answer. Nothing here stops anybody else.
///
/// Hummingbird's own middleware knows no list from a setting and does not expose headers where they count.
/// Source: WHATWG *Fetch*, section 3.3.
struct CORS: Sendable {
    /// How long a browser need not ask again whether it may. Chromium takes no more than two hours.
    private static let preflightSeconds = 7_200
    private static let methods = "GET, HEAD, POST, PUT, PATCH"
    private static let sent: String = {
        let names: [HTTPField.Name] =
            HTTPField.Name.appSecrets + HTTPField.Name.deviceTokens + [
                .accept, .contentType, .ifMatch, .ifNoneMatch, .idempotencyKey, .humonPosition, .xRequestID, .traceparent,
            ]
        return names.map(\.canonicalName).joined(separator: ", ")
    }()
    private static let seen: String = {
        let names: [HTTPField.Name] = [
            .age, .eTag, .humonPosition, .link, .rateLimit, .rateLimitPolicy, .retryAfter, .xRequestID,
        ]
        return names.map(\.canonicalName).joined(separator: ", ")
    }()

    private let origins: CORSOrigins

    init(allowing origins: CORSOrigins) { self.origins = origins }

    /// What a browser is answered that asks whether it may; nil where that is not the question.
    func preflight(_ request: Request) -> Answer? {
        guard request.method == .options, request.headers.contains(.accessControlRequestMethod), allowed(request) != nil else {
            return nil
        }
        return Answer(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: Self.methods, .accessControlAllowHeaders: Self.sent,
                .accessControlMaxAge: String(Self.preflightSeconds),
            ])
    }

    func tell(_ answer: inout Answer, _ request: Request) {
        if origins == .none { return }
        if let allowed = allowed(request) {
            answer.headers[.accessControlAllowOrigin] = allowed
            answer.headers[.accessControlExposeHeaders] = Self.seen
        }
        // Whoever keeps the answer must not give it to a page of another origin.
        if origins != .all { answer.headers.append(HTTPField(name: .vary, value: "Origin")) }
    }

    private func allowed(_ request: Request) -> String? {
        if origins == .none { return nil }
        return request.headers.value(of: .origin).flatMap(origins.allowed)
    }
}

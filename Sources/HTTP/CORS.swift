internal import HTTPTypes
public import Hummingbird

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
public struct CORSResponder<Base: HTTPResponder<APIContext>>: HTTPResponder {
    public typealias Context = APIContext

    /// How long a browser need not ask again whether it may. Chromium takes no more than two hours.
    private static var preflightSeconds: Int { 7_200 }
    private static var methods: String { "GET, HEAD, POST, PUT, PATCH" }
    private static var sent: String {
        let names: [HTTPField.Name] =
            HTTPField.Name.appSecrets + HTTPField.Name.deviceTokens + [
                .accept, .contentType, .ifMatch, .ifNoneMatch, .idempotencyKey, .humonPosition, .xRequestID, .traceparent,
            ]
        return names.map(\.canonicalName).joined(separator: ", ")
    }
    private static var seen: String {
        let names: [HTTPField.Name] = [
            .age, .eTag, .humonPosition, .link, .rateLimit, .rateLimitPolicy, .retryAfter, .xRequestID,
        ]
        return names.map(\.canonicalName).joined(separator: ", ")
    }

    private let base: Base
    private let origins: CORSOrigins
    private let sent = Self.sent
    private let seen = Self.seen

    public init(_ base: Base, allowing origins: CORSOrigins) {
        self.base = base
        self.origins = origins
    }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        if origins == .none { return try await base.respond(to: request, context: context) }
        let origin = request.headers[.origin].flatMap(origins.allowed)
        var response: Response
        if let origin, request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response = Response(status: .noContent)
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlAllowMethods] = Self.methods
            response.headers[.accessControlAllowHeaders] = sent
            response.headers[.accessControlMaxAge] = String(Self.preflightSeconds)
            response.headers[.xRequestID] = request.requestID(context)
        } else {
            response = try await base.respond(to: request, context: context)
            response.headers[.accessControlAllowOrigin] = origin
            if origin != nil { response.headers[.accessControlExposeHeaders] = seen }
        }
        // Whoever keeps the answer must not give it to a page of another origin.
        if origins != .all { response.headers[values: .vary].append("Origin") }
        return response
    }
}

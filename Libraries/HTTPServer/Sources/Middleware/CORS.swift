public import HTTPTypes

/// The origins that may use the server from a browser.
public enum CORSOrigins: Sendable, Hashable {
    case none
    case all
    case these(Set<Origin>)

    /// - Parameter list: origins such as `https://app.example.org`, separated by commas; or `*`
    /// - Returns: `nil` if one of them is not an origin
    public init?(_ list: String) {
        if list == "*" {
            self = .all
            return
        }
        guard let origins = [Origin](list: list) else { return nil }
        self = .these(Set(origins))
    }

    /// The value of `Access-Control-Allow-Origin` for a page of that origin.
    fileprivate func allowed(_ origin: String) -> String? {
        switch self {
        case .none: nil
        case .all: "*"
        case .these(let origins): Origin(origin).map(origins.contains) == true ? origin : nil
        }
    }
}

extension [Origin] {
    /// - Parameter list: origins, separated by commas
    /// - Returns: in the order of the list; `nil` if one of them is not an origin
    public init?(list: String) {
        let texts = list.split(separator: ",", omittingEmptySubsequences: false)
        let origins = texts.compactMap { Origin($0.trimmingSpaces) }
        guard origins.count == texts.count else { return nil }
        self = origins
    }
}

/// Tells browsers which pages may send requests, and which response fields they may read. Other clients ignore it.
/// Source: WHATWG *Fetch*, section 3.3.
public struct CORS: Middleware {
    /// Seconds for which a browser may keep the result of a preflight. Chromium keeps it for two hours at most.
    private static let preflightSeconds = 7_200

    private let origins: CORSOrigins
    private let closed: Set<String>
    private let methods: String
    private let requestHeaders: String
    private let exposedHeaders: String

    /// - Parameters:
    ///   - closed: templates of routes that no page of another origin may read
    ///   - methods: the methods that pages may use
    ///   - requestHeaders: the request fields that pages may set
    ///   - exposedHeaders: the response fields that pages may read
    public init(
        allowing origins: CORSOrigins, except closed: Set<String> = [],
        methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete],
        requestHeaders: [HTTPField.Name] = [.accept, .contentType], exposedHeaders: [HTTPField.Name] = []
    ) {
        self.origins = origins
        self.closed = closed
        self.methods = methods.map(\.rawValue).joined(separator: ", ")
        self.requestHeaders = requestHeaders.map(\.canonicalName).joined(separator: ", ")
        self.exposedHeaders = exposedHeaders.map(\.canonicalName).joined(separator: ", ")
    }

    /// Answers a preflight request.
    public func prepare(_ request: inout Request, _ context: RequestContext) -> Response? {
        guard request.method == .options, request.headers.contains(.accessControlRequestMethod),
            allowedOrigin(request) != nil
        else { return nil }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: requestHeaders,
                .accessControlMaxAge: String(Self.preflightSeconds),
            ])
    }

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        if origins == .none || context.route.map({ closed.contains($0.template) }) == true { return }
        if let origin = allowedOrigin(request) {
            response.headers[.accessControlAllowOrigin] = origin
            if !exposedHeaders.isEmpty { response.headers[.accessControlExposeHeaders] = exposedHeaders }
        }
        // A cache must not give the response to a page of another origin.
        if origins != .all { response.headers.append(HTTPField(name: .vary, value: "Origin")) }
    }

    private func allowedOrigin(_ request: Request) -> String? {
        if origins == .none { return nil }
        return request.headers.value(of: .origin).flatMap(origins.allowed)
    }
}

public import Hummingbird

/// Finds out who sends a request before it is answered.
public struct ClientResponder<Base: HTTPResponder<APIContext>>: HTTPResponder {
    public typealias Context = APIContext

    private let base: Base
    private let proxies: TrustedProxies
    private let scheme: Client.Scheme

    /// - Parameter scheme: what is spoken to this server
    public init(_ base: Base, believing proxies: TrustedProxies, scheme: Client.Scheme = .http) {
        self.base = base
        self.proxies = proxies
        self.scheme = scheme
    }

    public func respond(to request: Request, context: APIContext) async throws -> Response {
        var context = context
        context.client = proxies.client(of: request.headers, peer: context.peer, scheme: scheme)
        return try await base.respond(to: request, context: context)
    }
}

internal import HTTPTypes
public import Telemetry

/// The server's information about a request, besides the request itself.
public struct RequestContext: Sendable {
    public let stopwatch = Stopwatch()
    public let connection: ConnectionInfo
    /// The id that a trusted proxy sent, or a new one.
    public let requestID: String
    /// The route of the request. `nil` if there is none.
    public internal(set) var route: RouteMatch?

    init(_ request: Request, from connection: ConnectionInfo) {
        self.connection = connection
        let sent = connection.isTrustedProxy ? request.headers.value(of: .xRequestID) : nil
        requestID = sent.flatMap { RequestID.isUsable($0) ? $0 : nil } ?? RequestID.new()
    }

    /// The W3C trace id of a trusted proxy. The server ignores the trace id of any other client, which could name a foreign trace.
    public func traceID(of request: Request) -> String? {
        guard connection.isTrustedProxy, let sent = request.headers.value(of: .traceparent) else { return nil }
        return TraceContext.traceID(in: sent)
    }

    /// The part of the path that matches the first parameter of the route. Empty if the route has none.
    public var parameter: Substring { route?.parameter ?? "" }

    /// The id in the path, as `{id}` in `/events/{id}`.
    /// - Throws: 404 if the path has no number there
    public func id() throws(HTTPError) -> Int64 {
        guard parameter.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = Int64(parameter) else { throw .notFound }
        return id
    }

    /// The client, as far as the server knows it.
    public func sender(of request: Request) -> Sender { connection.sender(request.headers) }

    /// Whether the client runs on this machine. Any forwarding field that names no loopback address says that it does not, whether the
    /// proxy is trusted or not.
    public func isFromThisMachine(_ request: Request) -> Bool { connection.isFromThisMachine(request.headers) }
}

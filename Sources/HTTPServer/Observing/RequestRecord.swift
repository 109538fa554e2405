internal import HTTPTypes
internal import NIOCore
internal import Telemetry

/// A request and its response, as a log shows them.
public struct RequestRecord: Sendable, Hashable {
    public var requestID: String
    public var traceID: String?
    public var method: String
    /// The template; `-` for a request without a route.
    public var route: String
    public var status: Int
    /// The time from the head of the request until its response is ready to be sent.
    public var nanoseconds: Int
    /// Bytes of the response's body.
    public var bytes: Int
    public var clientAddress: String?
}

/// Passes a record of each request to a function.
public struct RequestLogging: RequestObserver {
    private let write: @Sendable (RequestRecord) -> Void

    /// - Parameter write: called on the event loop or in a task. It must not wait.
    public init(_ write: @escaping @Sendable (RequestRecord) -> Void) { self.write = write }

    public func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response) {
        write(
            RequestRecord(
                requestID: context.requestID, traceID: context.traceID(of: request), method: request.method.rawValue,
                route: context.route?.template ?? "-", status: response.status.code,
                nanoseconds: context.stopwatch.nanoseconds, bytes: response.body.readableBytes,
                clientAddress: context.sender(of: request).address.map { "\($0)" }))
    }
}

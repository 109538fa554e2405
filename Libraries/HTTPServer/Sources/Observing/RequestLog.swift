internal import HTTPTypes
public import Logging
internal import NIOCore
public import Telemetry

/// Writes one line for each request, with the template of its route. Paths and queries are personal and are not logged.
public struct RequestLog: RequestObserver {
    private let format: LogFormat
    private let level: Logger.Level
    private let sink: LogSink

    /// - Parameter level: above `info` requests are not logged
    public init(_ format: LogFormat, level: Logger.Level, sink: LogSink = .standardError) {
        self.format = format
        self.level = level
        self.sink = sink
    }

    /// Writes a line without a `Logger`: its dictionary of metadata costs as much time as the line.
    public func requestEnded(_ request: Request, _ context: RequestContext, _ response: Response) {
        guard level <= .info else { return }
        var line = LogLine(format, .info, "request")
        line.add("request_id", context.requestID)
        if let traceID = context.traceID(of: request) { line.add("trace_id", traceID) }
        line.add("method", request.method.rawValue)
        // A request without a route has none.
        line.add("route", context.route?.template ?? "-")
        line.add("status", response.status.code)
        // The time from the head of the request until its response is ready to be sent.
        line.add("milliseconds", nanoseconds: context.stopwatch.nanoseconds)
        line.add("bytes", response.body.readableBytes)
        if let client = context.sender(of: request).address { line.add("client", "\(client)") }
        sink.write(line)
    }
}

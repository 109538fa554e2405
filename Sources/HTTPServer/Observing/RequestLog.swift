public import Logging
public import Telemetry

/// Writes one line for each request, with the template of its route. Paths and queries are personal and are not logged.
public struct RequestLog: Sendable {
    private let format: LogFormat
    private let sink: LogSink

    /// - Parameter level: above `info` requests are not logged, and the result is nil
    public init?(_ format: LogFormat, level: Logger.Level, sink: LogSink = .standardError) {
        guard level <= .info else { return nil }
        self.format = format
        self.sink = sink
    }

    /// Writes a line without a `Logger`: its dictionary of metadata costs as much time as the line.
    public func write(_ request: RequestRecord) {
        var line = LogLine(format, .info, "request")
        line.add("request_id", request.requestID)
        if let traceID = request.traceID { line.add("trace_id", traceID) }
        line.add("method", request.method)
        line.add("route", request.route)
        line.add("status", request.status)
        line.add("milliseconds", nanoseconds: request.nanoseconds)
        line.add("bytes", request.bytes)
        if let client = request.clientAddress { line.add("client", client) }
        sink.write(line)
    }
}

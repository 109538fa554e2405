internal import HTTPServer
internal import Logging

/// One line a request: what was asked for by route, never by path or query, and what became of it.
struct RequestLog: Sendable {
    private let format: LogFormat
    private let sink: LogSink

    /// nil where the level says that nobody wants to see it.
    init?(_ format: LogFormat, level: Logger.Level, sink: LogSink = .standardError) {
        guard level <= .info else { return nil }
        self.format = format
        self.sink = sink
    }

    /// Not by way of a `Logger`, whose dictionary of metadata costs as much as the line.
    func write(_ request: RequestRecord) {
        var line = LogLine(format, .info, "request")
        line.add("request_id", request.requestID)
        if let traceID = request.traceID { line.add("trace_id", traceID) }
        line.add("method", request.method)
        line.add("route", request.route)
        line.add("status", request.status)
        line.add("milliseconds", nanoseconds: request.nanoseconds)
        line.add("bytes", request.bytes)
        if let client = request.clientAddress { line.add("client", client) }
        sink.write(line.finished(), tell: format.tellDropped)
    }
}

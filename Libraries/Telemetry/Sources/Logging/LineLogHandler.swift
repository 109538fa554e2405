public import Logging

/// Writes each message as one line.
///
/// The handler reads the logger's metadata only when there is a message. Every request has a logger with its id, and almost no
/// request has a message.
public struct LineLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    private let format: LogFormat
    private let sink: LogSink

    public init(_ format: LogFormat, _ level: Logger.Level = .info, sink: LogSink = .standardError) {
        self.format = format
        logLevel = level
        self.sink = sink
    }

    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var line = LogLine(format, event.level, event.message.description)
        // A message's own metadata wins over the logger's metadata of the same name.
        var metadata = metadata.merging(event.metadata ?? [:]) { _, ofMessage in ofMessage }
        if let error = event.error, metadata["error"] == nil { metadata["error"] = "\(error)" }
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) { line.add(name, value) }
        sink.write(line)
    }
}

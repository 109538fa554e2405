internal import Logging

/// Writes each message as one line.
///
/// What a logger carries along is looked at only when there is a message: every request has a logger that carries its id, and almost
/// none has a message.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    private let format: LogFormat
    private let sink: LogSink

    init(_ format: LogFormat, sink: LogSink = .standardError) {
        self.format = format
        self.sink = sink
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = LogLine(format, event.level, event.message.description)
        // What comes with the message is said of it, whatever the logger carries under the same name.
        var metadata = metadata.merging(event.metadata ?? [:]) { _, ofMessage in ofMessage }
        if let error = event.error, metadata["error"] == nil { metadata["error"] = "\(error)" }
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) { line.add(name, value) }
        sink.write(line.finished(), tell: format.tellDropped)
    }
}

extension LogFormat {
    /// A line in the place of those that were dropped.
    func tellDropped(_ lines: Int) -> [UInt8] {
        var line = LogLine(self, .warning, "lines of the log were dropped, since nobody read them in time")
        line.add("lines", lines)
        return line.finished()
    }
}

extension Logger {
    /// Writes to standard error.
    static func humon(_ level: Logger.Level, _ format: LogFormat = .text) -> Logger {
        var logger = Logger(label: "humon", factory: { _ in LineLogHandler(format) })
        logger.logLevel = level
        return logger
    }
}

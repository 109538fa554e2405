public import Logging
internal import Synchronization

/// Writes each message as one line.
///
/// The handler reads the logger's metadata only when there is a message. Every request has a logger with its id, and almost no
/// request has a message.
public struct LineLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    /// The level of this logger, if it was set.
    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    private let format: LogFormat
    private let sink: LogSink

    /// - Parameter threshold: the level of all loggers that share it, unless a logger has a level of its own
    public init(_ format: LogFormat, threshold: LogThreshold = LogThreshold(.info), sink: LogSink = .standardError) {
        self.format = format
        self.threshold = threshold
        self.sink = sink
    }

    public var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
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

/// The lowest level of the messages that are written. It can change while the program runs, for all loggers that share it.
public final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases

    /// The index among the levels. Every request reads it, so it is no lock.
    private let index: Atomic<Int>

    public init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    public var level: Logger.Level {
        get { Self.levels[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}

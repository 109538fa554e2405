import Logging
import Synchronization

/// Collects the messages of a logger.
final class Messages: Sendable {
    private let lines = Mutex<[(level: Logger.Level, text: String)]>([])

    subscript(level: Logger.Level) -> [String] { lines.withLock { $0.filter { $0.level == level }.map(\.text) } }

    var logger: Logger { Logger(label: "tests") { _ in Handler(messages: self) } }

    private struct Handler: LogHandler {
        let messages: Messages
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            messages.lines.withLock { $0.append((event.level, "\(event.message)")) }
        }
    }
}

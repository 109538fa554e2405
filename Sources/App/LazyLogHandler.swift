internal import Logging

/// Looks at what a logger carries along only when there is a message.
///
/// Every request has a logger that carries its id, and almost none has a message: `StreamLogHandler` by itself writes what is carried
/// into a text as soon as it is set.
struct LazyLogHandler<Base: LogHandler>: LogHandler {
    private var base: Base
    var metadata: Logger.Metadata = [:]

    init(_ base: Base) { self.base = base }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        // What comes with the message is said of it, whatever the logger carries under the same name.
        event.metadata = metadata.merging(event.metadata ?? [:]) { _, ofMessage in ofMessage }
        base.log(event: event)
    }
}

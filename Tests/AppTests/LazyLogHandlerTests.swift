import Logging
import Synchronization
import Testing

@testable import App

@Suite struct `What a logger carries along` {
    private let kept = KeptMessages()

    private var logger: Logger {
        Logger(label: "test") { _ in LazyLogHandler(KeepingHandler(kept: kept)) }
    }

    @Test func `is told with every message, and what comes with a message with that one`() {
        var logger = logger
        logger[metadataKey: "request"] = "1"
        logger.error("first", metadata: ["method": "GET"])
        logger.error("second")
        #expect(kept.all == [["request": "1", "method": "GET"], ["request": "1"]])
    }

    @Test func `gives way to what comes with a message`() {
        var logger = logger
        logger[metadataKey: "request"] = "1"
        logger.error("first", metadata: ["request": "2"])
        #expect(kept.all == [["request": "2"]])
    }

    @Test func `is its own, not that of the logger it was copied from`() {
        let logger = logger
        var other = logger
        other[metadataKey: "request"] = "1"
        logger.error("first")
        #expect(kept.all == [[:]])
    }

    @Test func `changes nothing about which messages are told`() {
        var logger = logger
        logger.logLevel = .error
        logger.warning("first")
        #expect(kept.all.isEmpty)
    }
}

private final class KeptMessages: Sendable {
    private let metadata = Mutex<[Logger.Metadata]>([])

    var all: [Logger.Metadata] { metadata.withLock { $0 } }

    func keep(_ event: LogEvent) { metadata.withLock { $0.append(event.metadata ?? [:]) } }
}

private struct KeepingHandler: LogHandler {
    let kept: KeptMessages
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { kept.keep(event) }
}

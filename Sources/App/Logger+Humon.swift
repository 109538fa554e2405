internal import Logging
internal import Telemetry

extension Logger {
    /// Writes lines to standard error.
    static func humon(_ level: Logger.Level, _ format: LogFormat = .text) -> Logger {
        Logger(label: "humon", factory: { _ in LineLogHandler(format, level) })
    }
}

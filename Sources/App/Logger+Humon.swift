internal import Logging
internal import Telemetry

extension Logger {
    /// Writes lines to standard error.
    static func humon(_ level: Logger.Level, _ format: LogFormat = .text) -> Logger { humon(LogThreshold(level), format) }

    /// - Parameter threshold: can change the level later
    static func humon(_ threshold: LogThreshold, _ format: LogFormat) -> Logger {
        Logger(label: "humon", factory: { _ in LineLogHandler(format, threshold: threshold) })
    }
}

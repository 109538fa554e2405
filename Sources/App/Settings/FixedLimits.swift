/// The limits of a node without a setting of their own, beside those of `API`. docs/settings.md lists all limits, and the
/// answer that a client gets beyond each.
enum FixedLimits {
    static let headerBytes = 32_768
    static let arrivalSeconds = 20
    static let idleSeconds = 75
    static let operatorConnections = 64
    static let bufferMegabytes = 256
    static let streamsPerUser = 20
    static let streamOpeningsPerMinute = 600
    static let sessionsOfNodePerMinute = 600
    static let shutdownSeconds = 20
    /// The time of a response, beside that of one statement: a request may wait for a connection to PostgreSQL before.
    static let answerSeconds = 20
}

/// The limits of a node without a setting of their own. docs/settings.md lists them.
enum FixedLimits {
    static let bodyBytes = 65_536
    static let targetBytes = 8_192
    static let headerBytes = 32_768
    static let arrivalSeconds = 20
    static let idleSeconds = 75
    static let bufferMegabytes = 256
    static let streamsPerUser = 20
    static let streamOpeningsPerMinute = 600
    static let shutdownSeconds = 20

    static let sessionsOfNodePerMinute = 600

    /// A request may wait for a connection to PostgreSQL before its statement, and be answered after it.
    static func answerSeconds(statementSeconds: Int) -> Int { statementSeconds + 20 }

    /// A row of docs/settings.md.
    struct Row {
        var limit: String
        var value: String
        /// What a client gets beyond the limit.
        var beyond: String
    }

    static let rows = [
        Row(limit: "size of a request body", value: "\(bodyBytes) bytes", beyond: "413"),
        Row(limit: "length of a path and query", value: "\(targetBytes) bytes", beyond: "414"),
        Row(limit: "size of a request line and its header fields", value: "\(headerBytes) bytes", beyond: "431"),
        Row(
            limit: "time until a request has arrived, and until a new connection sends its first byte",
            value: "\(arrivalSeconds) s", beyond: "408; the connection is closed"),
        Row(
            limit: "time from the arrival of a request to its response",
            value: "HUMON_STATEMENT_TIMEOUT_SECONDS and 20 s", beyond: "503"),
        Row(limit: "time that a connection may be idle", value: "\(idleSeconds) s", beyond: "the connection is closed"),
        Row(
            limit: "memory for unsent responses and arriving bodies", value: "\(bufferMegabytes) MB",
            beyond: "503 for large responses and bodies"),
        Row(
            limit: "open streams of changes of a user, if HUMON_READS is devices", value: "\(streamsPerUser)", beyond: "429"),
        Row(
            limit: "streams of changes that a client address opens in a minute", value: "\(streamOpeningsPerMinute)",
            beyond: "429"),
        Row(
            limit: "sign-ups on the map page of a node in a minute", value: "\(sessionsOfNodePerMinute)", beyond: "429"),
        Row(
            limit: "time that open requests have when a node stops, after HUMON_DRAIN_SECONDS",
            value: "\(shutdownSeconds) s", beyond: "the connection is closed"),
    ]
}

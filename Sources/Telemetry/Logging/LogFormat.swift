/// How messages are written to standard error.
enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, sentence, then `name=value`.
    case text
    /// For machines: one object a line.
    case json
}

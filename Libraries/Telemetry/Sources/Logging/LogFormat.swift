/// The format of messages as lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// For programs: one JSON object a line.
    case json
}

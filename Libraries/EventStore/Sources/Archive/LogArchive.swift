/// The log in one file, to be carried elsewhere: a CloudEvents object a line, described in `docs/archive-format.md`.
public enum LogArchive {
    /// The longest line, in bytes: longer than any that a request can cause.
    static let lineLimit = 512 * 1_024

    /// The contents of an archive.
    public struct Summary: Sendable, Hashable {
        public var recordedEvents: Int64
        public var commands: Int64
    }
}

/// Why a file cannot be imported. Nothing of it was.
public struct LogArchiveError: Error, Hashable, CustomStringConvertible {
    /// From 1; nil where no line is at fault.
    public var line: Int64?
    /// Never quotes what stands there.
    public var reason: String

    public init(line: Int64? = nil, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    public var description: String { "\(line.map { "Line \($0): " } ?? "")\(reason). Nothing was imported." }
}

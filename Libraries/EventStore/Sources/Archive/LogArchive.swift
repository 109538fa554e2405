public import Encoding
internal import Foundation

/// The log in one file, to be carried elsewhere: lines of JSON, described in `docs/archive-format.md`.
public enum LogArchive {
    /// To be raised when lines change their shape.
    public static let format: Int64 = 2
    /// The longest line that is read, in bytes: far longer than any that a request can cause.
    static let lineLimit = 16 * 1_024 * 1_024
    /// The most recorded events, and the most commands, that a header may announce: more than a file can hold, and so few that no sum
    /// of them overflows.
    static let countLimit = LogReader.positionLimit
    /// The size of a piece, in bytes.
    static let pieceSize = 128 * 1_024

    /// The first line.
    public struct Header: Sendable, Hashable {
        public var createdAt: Timestamp
        /// Of the database that it was made from, for people to read.
        public var migrations: [String]
        /// Of the last recorded event, and so how many there are: positions are contiguous from 1.
        public var lastPosition: Int64
        public var commands: Int64
    }

    /// What the last line says of all lines before it.
    public struct Summary: Sendable, Hashable {
        public var recordedEvents: Int64
        public var commands: Int64
        /// Of the bytes of all lines before the last, line feeds included; hexadecimal.
        public var sha256: String
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

extension LogArchive.Header {
    var json: JSON {
        [
            "humon_log": JSON(LogArchive.format), "created_at": .string(createdAt.description),
            "migrations": .array(migrations.map(JSON.string)), "first_position": JSON(1 as Int64),
            "last_position": JSON(lastPosition), "recorded_events": JSON(lastPosition), "commands": JSON(commands),
        ]
    }

    /// - Throws: ``FormatError``
    init(_ json: JSON) throws {
        guard let format = json["humon_log"]?.storedInteger else { throw FormatError("this is no log of humon's") }
        guard format == LogArchive.format else {
            throw FormatError("this program reads format \(LogArchive.format), not \(format)")
        }
        createdAt = try json.stored("created_at", \.storedTimestamp)
        migrations = try json.stored("migrations") { list in
            guard case .array(let names) = list else { return nil }
            return names.compactMap(\.storedString)
        }
        lastPosition = try json.stored("last_position", \.storedInteger)
        commands = try json.stored("commands", \.storedInteger)
        let count: Int64 = try json.stored("recorded_events", \.storedInteger)
        guard try json.stored("first_position", \.storedInteger) == 1, count == lastPosition, count >= 0, commands >= 0 else {
            throw FormatError("positions and counts do not fit together")
        }
        guard count <= LogArchive.countLimit, commands <= LogArchive.countLimit else {
            throw FormatError("a count is larger than \(LogArchive.countLimit)")
        }
    }
}

extension LogArchive.Summary {
    var json: JSON {
        ["recorded_events": JSON(recordedEvents), "commands": JSON(commands), "sha256": .string(sha256)]
    }

    /// - Throws: ``FormatError``
    init(_ json: JSON) throws {
        recordedEvents = try json.stored("recorded_events", \.storedInteger)
        commands = try json.stored("commands", \.storedInteger)
        sha256 = try json.stored("sha256", \.storedString)
    }
}

import Foundation
import Hashing

/// A command and its result, as known to the client that sent it.
struct CommandRecord: Sendable, Hashable {
    enum Fate: Sendable, Hashable {
        /// 2xx: the command is in the log exactly once.
        case acknowledged
        /// 4xx: the command is not in the log.
        case refused(status: Int)
        /// No response: the command is in the log at most once.
        case unknown
    }

    /// The name in reports.
    var name: String
    /// Identifies the command in the log; see ``Mark``. Several records share a mark if a client sent one command under several
    /// names.
    var mark: String
    /// The type of the domain event that the command records.
    var type: String
    /// The stream of the recorded event; nil until a response names it.
    var stream: String?
    var fate: Fate

    /// The stream of the event that the command names; nil until a response names it.
    var event: String? {
        guard type == "AttendanceAdded", let id = stream?.split(separator: "-").dropFirst().first else { return stream }
        return "event-\(id)"
    }
}

/// The result of a read after the client's own write.
struct ReadingRecord: Sendable, Hashable {
    /// The name of the command.
    var name: String
    var stream: String
    /// The position that the response to the command named.
    var position: Int64
    /// The version in the response; nil if the event was unknown or cancelled.
    var version: Int32?
    /// Whether the response was 410.
    var isGone = false
}

/// Identifies a command in the log: a text in the data, the digest of a device, or the name of the stream. All cancellations of an
/// event are one command.
enum Mark {
    /// A regular expression in PostgreSQL's syntax.
    static let pattern = "fault-injection-[0-9]+-[0-9]+"

    static func text(client: Int, command: Int) -> String { "fault-injection-\(client)-\(command)" }

    /// - Parameter token: of 16 characters or more, whose digest needs no pepper
    static func device(_ token: String) -> String {
        SHA256.hash(token.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func cancellation(event: Int64) -> String { "cancellation of event-\(event)" }

    static func attendance(event: Int64, user: Int64) -> String { "attendance-\(event)-\(user)" }

    /// - Parameter stream: the stream of the attendance that ends
    static func leaving(_ stream: String) -> String { "leaving \(stream)" }
}

/// The records of all clients at the end of a run.
struct ClientsRecord: Sendable {
    var commands: [CommandRecord] = []
    var readings: [ReadingRecord] = []
    /// Violations that show without the log.
    var complaints: [Violation] = []
    var requests = 0
    var repeated = 0
    var unanswered = 0
    var longestWait = Duration.zero

    mutating func add(_ other: ClientsRecord) {
        commands += other.commands
        readings += other.readings
        complaints += other.complaints
        requests += other.requests
        repeated += other.repeated
        unanswered += other.unanswered
        longestWait = max(longestWait, other.longestWait)
    }
}

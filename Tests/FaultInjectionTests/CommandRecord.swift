import Crypto
import Foundation

/// What one command was and what became of it, as the client that sent it knows.
struct CommandRecord: Sendable, Hashable {
    enum Fate: Sendable, Hashable {
        /// 2xx: it is in the log, once.
        case acknowledged
        /// 4xx: it is not in the log.
        case refused(status: Int)
        /// Never answered: it is in the log once or not at all.
        case unknown
    }

    /// For people.
    var name: String
    /// What the log knows it by; see ``Mark``. Several records have the same where one command was sent under several names.
    var mark: String
    /// The type of the domain event that it leads to.
    var type: String
    /// Where it is recorded; nil while no answer said so.
    var stream: String?
    var fate: Fate
}

/// What a client was shown when it read what it had just written.
struct ReadingRecord: Sendable, Hashable {
    /// Of the command.
    var name: String
    var stream: String
    /// That the answer to the command named.
    var position: Int64
    /// nil where the event was said to be unknown.
    var version: Int32?
}

/// What makes a command recognizable in the log: words in the data, the digest of a device, or the name of the stream.
enum Mark {
    /// In PostgreSQL's words.
    static let pattern = "fault injection-[0-9]+-[0-9]+"

    static func text(client: Int, command: Int) -> String { "fault injection-\(client)-\(command)" }

    static func device(_ token: String) -> String {
        SHA256.hash(data: Data(token.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func attendance(event: Int64, user: Int64) -> String { "attendance-\(event)-\(user)" }
}

/// Everything that clients know in the end.
struct ClientsRecord: Sendable {
    var commands: [CommandRecord] = []
    var readings: [ReadingRecord] = []
    /// What needs no look at the log to be wrong.
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

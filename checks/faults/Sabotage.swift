import Postgres

/// Breaks the system on purpose, so that checks can be seen failing.
struct Sabotage: Sendable {
    var postgresSettings: [String: String] = [:]
    var client: ClientSabotage?
    var subscription: SeenSubscription.Sabotage?
    var follower: ChangeFollower.Sabotage?
    /// Runs on the database before the first command.
    var breakDatabase: (@Sendable (PostgresClient) async throws -> Void)?

    /// A short time for a system that never recovers.
    var patienceSeconds: Double { breakDatabase == nil ? 60 : 3 }
    /// Streams of changes need an index that equals the read model.
    var hasChanges: Bool { breakDatabase == nil }
}

/// A mistake of a client on purpose, so that checks can be seen failing.
enum ClientSabotage: Sendable {
    /// Ignores its first response and repeats the command with a fresh key, as if it were another command.
    case freshKeys
    /// Sends no keys, as if the server ignored them.
    case dropsKeys
    /// Records refused commands as acknowledged.
    case believesRefusals
    /// Records acknowledged commands as refused.
    case reportsRefusals
}

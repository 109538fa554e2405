import Postgres

/// What is broken on purpose, so that checks can be seen failing.
struct Sabotage: Sendable {
    var postgresSettings: [String: String] = [:]
    var client: ClientSabotage?
    var subscription: SeenSubscription.Sabotage?
    var hasIndex = true
    /// Done to the database before the first command.
    var breakDatabase: (@Sendable (PostgresClient) async throws -> Void)?

    /// What is broken for good need not be waited for.
    var patienceSeconds: Double { breakDatabase == nil ? 60 : 3 }
    var patienceForMemorySeconds: Double { hasIndex ? patienceSeconds : 0.5 }
}

/// What a client does wrong on purpose, so that checks can be seen failing.
enum ClientSabotage: Sendable {
    /// Loses its first answer and tries again with a fresh key, as if it were another command.
    case freshKeys
    /// Sends none, as if the server did not know them.
    case dropsKeys
    /// Holds what was refused for done.
    case believesRefusals
    /// Says of what was done that it was refused.
    case tellsRefusals
}

internal import EventStore
internal import Logging
internal import Postgres

/// Checks whether nodes can read from the standby of HUMON_REPLICA_URL.
struct StandbyCheck: Sendable {
    static let name = "standby"
    /// Maximum seconds that the doctor waits until the standby has the end of the log.
    private static let patienceSeconds = 2.0
    private static let primaryIsRead = "nodes read from the primary"

    let primary: PostgresClient
    /// `nil` without a standby.
    let standby: PostgresConfiguration?

    /// - Throws: `PostgresError` of the primary, or `CancellationError`
    func look() async throws -> Check {
        guard let standby else { return Check(Self.name, .ok, "HUMON_REPLICA_URL is not set: \(Self.primaryIsRead)") }
        try await primary.query("SELECT 1")
        do {
            return Self.check(
                try await withPostgres(standby, logger: .humon(.critical)) { client in
                    try await StandbyComparison.compare(client, with: primary, patienceSeconds: Self.patienceSeconds)
                })
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return Check(
                Self.name, .warn, "\(error): \(Self.primaryIsRead)",
                hint: "Check that the standby runs with hot_standby on, and that HUMON_REPLICA_URL and the network lead to it.")
        }
    }

    static func check(_ comparison: StandbyComparison) -> Check {
        switch comparison {
        case .inStep(let after):
            guard after > .seconds(Standby.patienceSeconds) else {
                return Check(name, .ok, "has the end of the log after \(Figure.duration(seconds: after / .seconds(1)))")
            }
            return Check(
                name, .warn, "has the end of the log after \(Figure.duration(seconds: after / .seconds(1))): \(primaryIsRead)",
                hint: lagHint)
        case .behind(let positions):
            return Check(name, .warn, "lacks \(Figure.grouped(positions)) recorded events: \(primaryIsRead)", hint: lagHint)
        case .diverged:
            return Check(
                name, .bad, "has another log than the database of DATABASE_URL: \(primaryIsRead)",
                hint: "Let the standby follow the primary again, by pg_rewind or a new base backup, or correct HUMON_REPLICA_URL."
            )
        case .promoted:
            return Check(
                name, .warn, "is not in recovery, so it is no standby: \(primaryIsRead)",
                hint: "Let HUMON_REPLICA_URL lead to a streaming standby of the database.")
        }
    }

    private static let lagHint = "See pg_stat_replication on the primary, and pg_is_wal_replay_paused() on the standby."
}

internal import EventStore
internal import Foundation
internal import Postgres

/// Checks that no session keeps the others from appending.
struct LogLockCheck: Sendable {
    static let name = "log lock"
    /// An append holds the lock for milliseconds, and a cutover of a read model for less than a second.
    private static let patienceSeconds = 2.0

    let client: PostgresClient

    /// - Throws: `PostgresError`
    func look() async throws -> Check { Self.check(try await LogLock(client: client).holders()) }

    static func check(_ holders: [LogLock.Holder]) -> Check {
        guard let holder = holders.first(where: { $0.waitedSeconds > patienceSeconds }) else {
            return Check(name, .ok, "no append waits for it")
        }
        let address = holder.address.map { " (\($0))" } ?? ""
        let since = holder.beganAt.map { " since \($0.text(in: .gmt))" } ?? ""
        let silence = holder.silentSince == nil ? "" : "; its client is silent"
        let waiting = holder.waiting == 1 ? "1 session waits" : "\(holder.waiting) sessions wait"
        return Check(
            name, .bad,
            "held by \(holder.name)\(address)\(since)\(silence); \(waiting), the first for \(Field.duration(seconds: holder.waitedSeconds))",
            hint: "Look at that node: it may be frozen. An import or a rebuild ends by itself. To end the session: "
                + "SELECT pg_terminate_backend(\(holder.process));")
    }
}

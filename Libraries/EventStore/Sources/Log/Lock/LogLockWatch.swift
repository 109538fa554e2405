public import Logging
public import Postgres
public import ServiceLifecycle

/// Ends a session that holds the log's lock, or a lock that its holder waits for, while other sessions wait for the log's lock and the
/// session's client is silent. The client's node froze, or the network lost a part of its transaction. PostgreSQL has no time limit for
/// that before version 17.
///
/// Every node watches, so that the others go on if one freezes: docs/decisions/0049-silent-writers.md
public struct LogLockWatch: Service {
    /// For so long a client may be silent.
    public static let patienceSeconds = 2.0
    private static let pauseSeconds = 0.5

    private let lock: LogLock
    private let logger: Logger

    /// - Parameter client: its connections must not be the writer's, which waits for the lock
    public init(client: PostgresClient, logger: Logger) {
        lock = LogLock(client: client)
        self.logger = logger
    }

    /// Watches until shutdown begins.
    public func run() async {
        await cancelWhenGracefulShutdown {
            // By process. A message from the client of a session would begin another silence.
            var noticed: [Int32: (since: Double, at: ContinuousClock.Instant)] = [:]
            repeat {
                // Without an answer nothing is known of this moment.
                let holders = (try? await lock.holders()) ?? []
                let now = ContinuousClock.now
                let before = noticed
                noticed = [:]
                for holder in holders where holder.waiting > 0 {
                    guard let since = holder.silentSince else { continue }
                    // The session was silent at each look, and not only between two messages.
                    var silence = (since: since, at: now)
                    if let known = before[holder.process], known.since == since { silence = known }
                    noticed[holder.process] = silence
                    if now - silence.at >= .seconds(Self.patienceSeconds) { await end(holder) }
                }
            } while (try? await Task.sleep(for: .seconds(Self.pauseSeconds))) != nil
        }
    }

    private func end(_ holder: LogLock.Holder) async {
        guard (try? await lock.end(holder)) == true else { return }
        logger.error(
            "ended a session that kept appends waiting while its client was silent",
            metadata: ["session": "\(holder.name)", "address": "\(holder.address ?? "local")", "waiting": "\(holder.waiting)"])
    }
}

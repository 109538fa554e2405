import EventStore
import Foundation
import Postgres
import Synchronization
import TestDatabase

/// Injects a fault, and returns after the system has recovered.
struct FaultInjector: Sendable {
    static let otherDatabase = "elsewhere"

    let seed: UInt64
    let cluster: TestPostgres
    let standby: TestPostgres?
    let proxy: CuttingProxy
    let fleet: Fleet
    let subscriptions: SubscriptionPair
    let pace: Pace

    /// - Parameter end: the number of finished commands at which the fault ends
    /// - Returns: the commands that the injector sent itself
    func inject(_ fault: Fault, number: Int, end: Int) async throws -> [CommandRecord] {
        var sent: [CommandRecord] = []
        switch fault {
        case .killServer(let server): try await restart([server])
        case .killBothServers: try await restart([0, 1])
        case .killPostgres: try await cluster.crash()
        case .killPostgresAndServer(let server):
            async let crash: Void = cluster.crash()
            try await restart([server])
            try await crash
        case .stopServer(let server, let milliseconds):
            fleet.signal(SIGSTOP, server)
            try? await Task.sleep(for: .milliseconds(milliseconds))
            fleet.signal(SIGCONT, server)
        case .stopPostgres(let milliseconds): try await cluster.freeze(.milliseconds(milliseconds))
        case .halfOpenConnections: proxy.halfOpen()
        case .terminateAppendingSession:
            sent = try await withTraffic(number) { try await terminateAppendingSession() }
        case .cutConnections(let cut): sent = try await withTraffic(number) { try await proxy.cut(cut) }
        case .holdForeignTransactions:
            let versions = Mutex<Set<String>>([])
            try await whileForeignTransactionsAreOpen {
                try await cluster.withClient { client in
                    try await wait(for: "commands to go on beside foreign transactions") {
                        let found = try await rowVersions(client)
                        versions.withLock { $0.formUnion(found) }
                        return pace.finished >= end || pace.isOver
                    }
                }
            }
            let count = versions.withLock(\.count)
            guard count <= Self.rowVersionsLimit else {
                throw Violation(check: .snapshot, sentence: "rows of the log's own were written \(count) times or more")
            }
        case .holdLock(let milliseconds):
            try await whileLockIsHeld { try await Task.sleep(for: .milliseconds(milliseconds)) }
        case .fillQueue(let server): sent = try await fillQueue(server, number)
        case .replaceSubscription(let subscription): await subscriptions.replace(subscription)
        case .restartStandby:
            try await standby?.stop()
            try await standby?.start()
        case .failOver(let isBehind):
            if isBehind {
                try await standby?.kill()
                try await wait(for: "commands to go on without the standby") { pace.finished >= end || pace.isOver }
            }
            try await cluster.kill()
            if isBehind { try await standby?.start() }
            try await standby?.promote()
            if let standby { proxy.lead(to: standby.socketDirectory) }
        }
        try await fleet.awaitRecovery()
        return sent
    }

    private func restart(_ servers: [Int]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers {
                group.addTask {
                    await fleet.kill(server)
                    try await fleet.start(server)
                }
            }
            try await group.waitForAll()
        }
    }

    private func terminateAppendingSession() async throws {
        try await cluster.withClient { client in
            try await wait(for: "a session that appends") {
                try await client.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_locks
                    WHERE relation = 'log.append_lock'::regclass AND mode = 'ExclusiveLock' AND granted
                    """
                ).isEmpty == false
            }
        }
    }

    /// Sends sign-ups during a fault that needs an append to hit, even if the clients have finished.
    private func withTraffic(_ number: Int, _ fault: @Sendable () async throws -> Void) async throws -> [CommandRecord] {
        try await withThrowingTaskGroup(of: [CommandRecord].self) { group in
            group.addTask { [self] in
                var sent: [CommandRecord] = []
                while !Task.isCancelled {
                    sent.append(await signUp("traffic \(number)-\(sent.count) of \(seed)", attempts: 1))
                }
                return sent
            }
            try await fault()
            group.cancelAll()
            return try await group.next() ?? []
        }
    }

    /// Signs up, at both servers in turn.
    private func signUp(_ token: String, attempts: Int) async -> CommandRecord {
        var record = CommandRecord(
            name: "sign-up \(token)", mark: Mark.device(token), type: "UserCreated", stream: nil, fate: .unknown)
        for attempt in 0..<attempts {
            let answer = try? await fleet.send(
                "POST", "/v1/users", to: attempt % 2,
                headers: [("tb-app-secret", Fleet.secret), ("tb-device-token", token)], patience: .seconds(10))
            guard let answer, answer.status == 200, let user = answer.body.firstMatch(of: /"id":(\d+)/)?.1 else { continue }
            record.stream = "user-\(user)"
            record.fate = .acknowledged
            break
        }
        return record
    }

    private func whileForeignTransactionsAreOpen(_ body: @Sendable () async throws -> Void) async throws {
        try await cluster.withClient { writer in
            try await cluster.withClient { reader in
                try await cluster.withClient(database: Self.otherDatabase) { other in
                    try await writer.withTransaction { writer in
                        try await writer.query("INSERT INTO fault_injection.foreign_writes DEFAULT VALUES")
                        try await reader.withTransaction { reader in
                            try await reader.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                            try await reader.query("SELECT count(*) FROM fault_injection.foreign_writes")
                            try await other.withTransaction { other in
                                try await other.query("CREATE TABLE IF NOT EXISTS foreign_writes (at timestamptz)")
                                try await other.query("INSERT INTO foreign_writes VALUES (now())")
                                try await body()
                            }
                        }
                    }
                }
            }
        }
    }

    /// Maximum number of row versions during hundreds of commands: a server that opens a session writes to three read models.
    private static let rowVersionsLimit = 10

    /// The physical versions of all rows that appends share.
    private func rowVersions(_ client: PostgresClient) async throws -> [String] {
        try await client.query(
            """
            SELECT string_agg(v, ' ' ORDER BY v) FROM (
                SELECT concat(ctid, xmin) FROM log.read_models UNION ALL SELECT concat(ctid, xmin) FROM log.inline_read_models
            ) AS rows (v)
            """
        ).decode(String.self)
    }

    /// The session that holds the lock works: servers end one whose client is silent.
    private func whileLockIsHeld(_ body: @Sendable () async throws -> Void) async throws {
        try await cluster.withClient { holder in
            try await cluster.withClient { operators in
                let holders: SQL =
                    "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'SELECT pg_sleep(600)'"
                let holding = Task { try await holder.run(["SELECT log.lock()", "SELECT pg_sleep(600)"]) }
                try await wait(for: "the log's lock") { try await !operators.query(holders).isEmpty }
                try await body()
                try await operators.query("SELECT pg_cancel_backend(pid) FROM (\(holders)) AS holders")
                do { _ = try await holding.value } catch let error as PostgresError where error.sqlState == .queryCanceled {}
            }
        }
    }

    private func fillQueue(_ server: Int, _ number: Int) async throws -> [CommandRecord] {
        let burst = RequestBurst(port: fleet.ports[server], name: "burst \(number) of \(seed)")
        let isFull = Mutex(false)
        async let answered = burst.run { isFull.withLock { $0 = true } }
        try await whileLockIsHeld {
            try await wait(for: "the burst") { isFull.withLock { $0 } }
        }
        let records = try await answered
        guard fleet.errors(of: server).contains("\(EventLog.queueLimit) appends are waiting already") else {
            throw Violation(check: .recovery, sentence: "\(records.count) requests did not fill the queue of server \(server)")
        }
        // Repeats some of the sign-ups that were refused.
        var again: [CommandRecord] = []
        let refused = records.indices.filter { records[$0].fate == .unknown }.prefix(20)
        for index in refused { again.append(await signUp("\(burst.name) \(index)", attempts: 20)) }
        return records + again
    }
}

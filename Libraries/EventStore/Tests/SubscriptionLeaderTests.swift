import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

extension SQL {
    /// The processes of PostgreSQL that hold the locks of leaders.
    static let leaders: SQL = """
        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = \(Int64(SubscriptionRunner.lockClass)) AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
}

@Suite struct `Sharing a subscription between nodes` {
    @Test(.diary) func `a leader that stops hands over immediately`() async throws {
        var patient = SubscriptionRunner.Timing.test
        patient.silenceSeconds = 3_600
        let timing = patient
        for round in Int64(0)..<2 {
            try await store.withSubscription(Diary(), timing: timing) {
                try await store.count(round * 3 + 1...round * 3 + 3)
                try await store.reaches(round * 3 + 3)
            }
        }
        #expect(try await store.entries() == Array(1...6))
    }

    @Test(.diary, arguments: [false, true])
    func `another node leads after the silence of a leader, also behind a pooler`(isPooled: Bool) async throws {
        try await store.count(1...3)
        var configuration = store.database.configuration(role: "log_app", connections: 1)
        configuration.isPooled = isPooled
        try await withPostgres(configuration, logger: .quiet) { frozen in
            try await frozen.withConnection { connection in
                try await connection.run(
                    isPooled
                        ? ["BEGIN", "SELECT set_config('idle_in_transaction_session_timeout', '500', true)"]
                        : ["SELECT set_config('idle_session_timeout', '500', false)"])
                let scope: SQL = isPooled ? "xact_" : ""
                try await connection.query("SELECT pg_advisory_\(scope)lock(\(SubscriptionRunner.lockClass), hashtext('diary'))")
                try await store.withSubscription(Diary()) { try await store.reaches(3) }
            }
        }
        #expect(try await store.entries() == [1, 2, 3])
    }

    @Test(.store, arguments: [false, true])
    func `of several nodes one leads at a time, also behind a pooler`(isPooled: Bool) async throws {
        var configuration = store.database.configuration(role: "log_app", connections: 5)
        configuration.isPooled = isPooled
        let leading = Mutex(0)
        let most = Mutex(0)
        try await withPostgres(configuration, logger: .quiet) { client in
            let results = try await gather(5) { _ in
                try await AdvisoryLocks.with(
                    client, silenceSeconds: 30,
                    take: { connection, scope in
                        try await connection.query("SELECT pg_advisory_\(scope)lock(1, 2)")
                    },
                    work: { _ in
                        let now = leading.withLock { leading in
                            leading += 1
                            return leading
                        }
                        most.withLock { $0 = max($0, now) }
                        try await Task.sleep(for: .milliseconds(20))
                        leading.withLock { $0 -= 1 }
                    })
            }
            for result in results { try result.get() }
            // The connection has its own limit again.
            let limit = try await client.query("SELECT current_setting('idle_session_timeout')").decode(String.self)
            #expect(limit == ["0"])
        }
        #expect(most.withLock(\.self) == 1)
    }

    @Test(.diary) func `a former leader commits nothing after steps of the present one`() async throws {
        try await store.count(1...3)
        let former = try await store.leadership()
        var leader = try await store.leadership()
        for position in Int64(1)...3 { try await leader.step(to: position) { _ in } }
        let work = Task {
            var former = former
            try await former.step(to: 1) { transaction in
                try await Diary().handle(try await store.reader.read(after: 0, limit: 1), in: transaction)
            }
        }
        await #expect(throws: LeadLostError.self) { try await work.value }
        try await former.keep(Diary.Unlucky())
        #expect(try await store.entries() == [])
        let status = try #require(try await Subscriptions(client: store.client).statuses().first)
        #expect((status.position, status.interruption, status.leader) == (3, nil, nil))
    }

    @Test(.diary, arguments: ["COMMIT", "ROLLBACK"] as [SQL])
    func `a step waits for a former leader's step, and fails after it if that commits, and succeeds if not`(end: SQL) async throws
    {
        try await store.count(1...3)
        try await store.step(besideStepEndedBy: end)
        try await store.withSubscription(Diary()) {
            try await store.count(4...6)
            try await store.reaches(6)
        }
        #expect(try await store.entries() == Array(1...6))
    }

    @Test(.diary) func `of two leaders that try a parked stream again, one handles its events`() async throws {
        let isUnlucky = Mutex(true)
        try await store.count([13])
        try await store.withSubscription(Diary(isSuperstitious: { isUnlucky.withLock(\.self) })) { try await store.reaches(1) }
        isUnlucky.withLock { $0 = false }
        let subscriptions = Subscriptions(client: store.client)
        try await subscriptions.retry(of: "diary")
        try await store.client.withConnection { former in
            // As a leader does that froze before its commit.
            try await former.query("BEGIN")
            try await Diary().handle(try await store.reader.read(after: 0, limit: 1), in: former)
            try await former.query("DELETE FROM log.parked_streams")
            try await store.withSubscription(Diary()) {
                try await eventually("the present leader to wait") { try await store.hasWaiting() }
                try await former.query("COMMIT")
                try await store.count([2])
                try await store.reaches(2)
            }
        }
        #expect(try await subscriptions.parkedStreams(of: "diary") == [])
        #expect(try await store.entries() == [1, 2])
    }
}

extension TestStore {
    /// The work of a leader that begins now, without its lock.
    fileprivate func leadership() async throws -> Leadership { try await Leadership(Diary(), .test, client, .quiet) }

    /// Does a step while a former leader has handled three events and moved the position in a transaction, which ends when the step waits.
    fileprivate func step(besideStepEndedBy end: SQL) async throws {
        let leadership = try await leadership()
        let events = try await reader.read(after: 0, limit: 3)
        try await client.withConnection { session in
            try await session.query("BEGIN")
            try await Diary().handle(events, in: session)
            try await session.query("UPDATE log.subscriptions SET position = 3")
            let step = Task {
                var leadership = leadership
                try await leadership.step(to: 3) { try await Diary().handle(events, in: $0) }
            }
            try await eventually("the step to wait") { try await hasWaiting() }
            try await session.query(end)
            if end.text == "COMMIT" {
                await #expect(throws: LeadLostError.self) { try await step.value }
            } else {
                try await step.value
            }
        }
    }

    /// Whether a transaction waits for another one.
    fileprivate func hasWaiting() async throws -> Bool {
        try await !client.query(
            """
            SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE datname = current_database() AND locktype = 'transactionid' AND NOT granted
            """
        ).isEmpty
    }
}

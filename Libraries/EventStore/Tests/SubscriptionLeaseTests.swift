import Encoding
import Foundation
import Logging
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Sharing a subscription between nodes` {
    @Test func `a new leader takes over although the clock of PostgreSQL was set back`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            _ = try #require(try await store.claim(seconds: 1))
            try await store.client.query("UPDATE log.leases SET until = until + interval '1 hour'")
            try await store.withSubscription(Diary()) { try await store.reaches(3) }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `a leader that stops hands its lease over immediately`() async throws {
        try await TestStore.withDiary { store in
            var patient = SubscriptionRunner.Timing.test
            patient.leaseSeconds = 3_600
            let timing = patient
            try await store.withSubscription(Diary(), timing: timing) {
                try await store.count(1...3)
                try await store.reaches(3)
            }
            try await store.withSubscription(Diary(), timing: timing) {
                try await store.count(4...6)
                try await store.reaches(6)
            }
            #expect(try await store.entries() == Array(1...6))
        }
    }

    @Test func `nobody leads while there is nothing to do, and the next event has a leader again`() async throws {
        try await TestStore.withDiary { store in
            var timing = SubscriptionRunner.Timing.test
            timing.leaseSeconds = 0.6
            let newest: SQL = "SELECT number, leader::text FROM log.subscriptions ORDER BY number DESC LIMIT 1"
            try await store.withSubscription(Diary(), timing: timing) {
                for number in Int64(1)...3 {
                    try await store.count(number...number)
                    try await store.reaches(number)
                    var rested: Int64?
                    try await eventually("the release") {
                        let row = try await store.client.query(newest).decode((Int64, String?).self).first
                        rested = row?.0
                        return row?.1 == nil
                    }
                    // Many claims later nothing is written.
                    try await Task.sleep(for: .milliseconds(500))
                    #expect(try await store.client.query(newest).decode((Int64, String?).self).first?.0 == rested)
                }
            }
            #expect(try await store.entries() == [1, 2, 3])
        }
    }

    @Test func `a former leader commits nothing after steps of the present one`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...3)
            let former = try #require(try await store.claim())
            try await store.endLeases()
            var leader = try #require(try await store.claim())
            for position in Int64(1)...3 { try await leader.step(to: position) { _ in } }
            let work = Task {
                var former = former
                try await former.step(to: 1) { transaction in
                    try await Diary().handle(try await store.reader.read(after: 0, limit: 1), in: transaction)
                }
            }
            await #expect(throws: LeaseLostError.self) { try await work.value }
            await #expect(throws: LeaseLostError.self) { try await former.renew() }
            try await former.release()
            try await leader.renew()
            #expect(try await store.entries() == [])
            #expect(try await Subscriptions(client: store.client).position(of: "diary") == 3)
        }
    }

    @Test func `of several claims at once exactly one gets the lease`() async throws {
        try await TestStore.withDiary { store in
            try await store.count(1...1)
            for round in Int64(1)...10 {
                let claims = try await gather(5) { _ in try await store.claim() }
                let leases = try claims.compactMap { try $0.get() }
                #expect(leases.map(\.number) == [round])
                try await store.endLeases()
            }
        }
    }

    @Test func `a claim waits for a former leader's step, and goes on after the step if it commits, and before it if not`()
        async throws
    {
        for end in ["COMMIT", "ROLLBACK"] as [SQL] {
            try await TestStore.withDiary { store in
                try await store.count(1...3)
                let claimed = try await store.claimBesideStep(endedBy: end)
                if end.text == "COMMIT" {
                    #expect(claimed?.number == nil)
                } else {
                    let lease = try #require(claimed)
                    #expect((lease.number, lease.position) == (2, 0))
                    try await store.endLeases()
                }
                try await store.withSubscription(Diary()) {
                    try await store.count(4...6)
                    try await store.reaches(6)
                }
                #expect(try await store.entries() == Array(1...6))
            }
        }
    }
}

extension TestStore {
    /// Claims the lease of the subscription for a leader of its own.
    fileprivate func claim(seconds: Double = 30) async throws -> SubscriptionLease? {
        try await SubscriptionLease.claim("diary", leader: UUID(), seconds: seconds, client: client)
    }

    /// Ends all leases, as time does.
    fileprivate func endLeases() async throws { try await client.query("UPDATE log.leases SET until = '-infinity'") }

    /// Claims the lease while a former leader has handled three events and moved the position in a transaction, which ends when the claim
    /// waits.
    fileprivate func claimBesideStep(endedBy end: SQL) async throws -> SubscriptionLease? {
        let former = try #require(try await claim())
        try await endLeases()
        return try await client.withConnection { session in
            try await session.query("BEGIN")
            try await Diary().handle(try await reader.read(after: 0, limit: 3), in: session)
            try await former.move(to: 3, in: session)
            // A client of its own: a query behind the claim, on the same connection, would wait, too.
            let claim = Task {
                try await database.withClient(role: "log_app", connections: 1) { other in
                    try await SubscriptionLease.claim("diary", leader: UUID(), seconds: 30, client: other)
                }
            }
            try await eventually("the claim to wait") {
                try await !client.query(
                    """
                    SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
                    WHERE datname = current_database() AND locktype = 'transactionid' AND NOT granted
                    """
                ).isEmpty
            }
            try await session.query(end)
            return try await claim.value
        }
    }
}

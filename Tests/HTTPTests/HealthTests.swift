import EventStore
import Events
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

@testable import HTTP

@Suite struct `Reporting the health of a server` {
    @Test func `the health depends on the database and on the state of the index`() {
        typealias Case = (index: InMemoryPhase, isDatabaseThere: Bool, status: Health.Status, isReady: Bool)
        let cases: [Case] = [
            (.inUse, true, .ok, true), (.inUse, false, .degraded, true),
            // The log lost its end: writes go on.
            (.loading, true, .degraded, true), (.loading, false, .unavailable, false),
            (.off, true, .ok, true), (.off, false, .unavailable, false),
        ]
        for isDatabaseThere in [true, false] {
            let starting = Health(
                isDatabaseThere: isDatabaseThere, index: .loading, isMemoryStale: false, isStarting: true)
            #expect((starting.status, starting.isReady) == (.starting, false))
        }
        let stale = Health(isDatabaseThere: true, index: .inUse, isMemoryStale: true)
        #expect((stale.status, stale.isReady) == (.degraded, true))
        let stopping = Health(isDatabaseThere: nil, index: .inUse, isMemoryStale: false, isDraining: true)
        #expect((stopping.status, stopping.isReady) == (.stopping, false))
        let restoring = Health(isDatabaseThere: true, index: .inUse, isMemoryStale: false, mayAnswer: false)
        #expect((restoring.status, restoring.isReady) == (.unavailable, false))
        #expect(cases.count == 2 * InMemoryPhase.allCases.count)
        for expected in cases {
            let health = Health(
                isDatabaseThere: expected.isDatabaseThere, index: expected.index, isMemoryStale: false)
            #expect((health.status, health.isReady) == (expected.status, expected.isReady), "\(expected)")
            #expect(health.response.status == (expected.isReady ? .ok : .serviceUnavailable), "\(expected)")
            #expect(health.response.headers[.retryAfter] == (expected.isReady ? nil : "1"), "\(expected)")
        }
    }

    @Test func `concurrent health requests share one database check, which expires after a second`() async throws {
        let asked = Mutex(0)
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let check = DatabaseCheck(now: { start + passed.withLock(\.self) }) {
            let count = asked.withLock { count in
                count += 1
                return count
            }
            if count > 1 { throw CancellationError() }
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await check.isThere() } }
            for await isThere in group { #expect(isThere) }
        }
        passed.withLock { $0 = .milliseconds(999) }
        #expect(await check.isThere())
        #expect(asked.withLock(\.self) == 1)
        passed.withLock { $0 = .seconds(1) }
        #expect(await !check.isThere())
        #expect(asked.withLock(\.self) == 2)
    }

    @Test func `a database that does not answer counts as away in less time than probes wait`() async {
        #expect(DatabaseCheck.patienceSeconds < 2)
        let wasCancelled = Mutex(false)
        let check = DatabaseCheck {
            do { try await Task.sleep(for: .seconds(600)) } catch {
                wasCancelled.withLock { $0 = true }
                throw error
            }
        }
        #expect(await !check.isThere())
        let isCancelled = wasCancelled.withLock(\.self)
        #expect(isCancelled)
    }

    @Test func `work ends at its deadline`() async throws {
        await #expect(throws: Deadline.Exceeded.self) {
            try await Deadline.run(within: 0.05) { try await Task.sleep(for: .seconds(600)) }
        }
        #expect(try await Deadline.run(within: 600) { 7 } == 7)
        #expect(Deadline.Exceeded(seconds: 10).description == "no answer within 10.0 s")
    }
}

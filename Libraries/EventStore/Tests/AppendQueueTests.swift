import Postgres
import Telemetry
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Queueing appends` {
    private static func writing(_ bytes: Int, to note: Int) -> AppendRequest {
        .noting("\(note)", after: 0, .written(String(repeating: "x", count: bytes)))
    }

    /// The send buffer of the writer's connection takes two transactions of this size.
    @Test(.store) func `a transaction takes large appends up to its limit of bytes, and at least one`() async throws {
        try await TestStore.withLog(store.client, projections: []) { log in
            let results = try await gather(40) { try await log.record(Self.writing(20 << 10, to: $0)) }
            #expect(results.appended.count == 40)
            // Three of these take 120 KiB and a little more, and four more than 160 KiB.
            #expect(log.statistics.batches.snapshot.counts.reduce(0, +) >= 14)
            _ = try await log.record(Self.writing(BatchSchedule.byteLimit, to: 40))
        }
    }

    @Test(.store) func `an append that waits for too long is refused, and is not carried out later`() async throws {
        let log = EventLog(client: store.client, projections: [], queueTime: .seconds(2), logger: .quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.run() }
            defer { group.cancelAll() }
            let (first, last) = try await store.database.withClient { blocker in
                try await blocker.withTransaction { connection in
                    try await connection.query("SELECT log.lock()")
                    var first: [Task<Recorded, any Error>] = []
                    for number in 0..<EventLog.transactionsUnderWay {
                        first.append(Task { try await log.record(.counting("first-\(number)", after: 0)) })
                        try await eventually("transaction \(number) to begin") {
                            try await blocker.query(SQL.waitingAppends).count == number + 1
                        }
                    }
                    let last = Task { try await log.record(.counting("last", after: 0)) }
                    try await eventually("an append that waits") { log.queueLength == 1 }
                    try await Task.sleep(for: .milliseconds(2_100))
                    return (first, last)
                }
            }
            for append in first { _ = try await append.value }
            await #expect(throws: EventLogError.expired) { try await last.value }
            #expect(try await store.reader.tail() == 2)
            #expect(log.statistics.appends[.unavailable] == 1)
        }
    }

    @Test(.database) func `an append that meets a held lock names the log's lock`() async throws {
        var configuration = database.configuration(role: "log_app", connections: 1)
        configuration.sessionSettings["lock_timeout"] = "100"
        try await withPostgres(configuration, logger: .quiet) { client in
            try await database.withClient { blocker in
                try await blocker.withTransaction { connection in
                    try await connection.query("SELECT log.lock()")
                    try await TestStore.withLog(client, projections: []) { log in
                        let error = await #expect(throws: EventLogError.self) {
                            try await log.record(.counting("a", after: 0))
                        }
                        #expect(error == .lockHeld)
                        #expect("\(EventLogError.lockHeld)".contains("the log's lock"))
                    }
                }
            }
        }
    }
}

import Foundation
import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Sending a transaction` {
    /// libpq by itself sends every full 8 KiB. PostgreSQL would run the first statement, and wait for the second one under its locks.
    @Test(.database) func `PostgreSQL gets nothing of a transaction before all of it may be sent`() async throws {
        try await database.withClient { client in
            try await client.query("CREATE SEQUENCE runs")
            let large = String(repeating: "x", count: 50_000)
            let session = try Self.session(database)
            let hasRun: SQL = "SELECT is_called FROM runs"
            // The second time both statements are prepared already.
            for _ in 0..<2 {
                #expect(session.queue(["SELECT nextval('runs'), length(\(large))", "SELECT length(\(large))"]) != nil)
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await client.query(hasRun).column(Bool.self) == [false])
            // A single statement is sent at once, with all statements that were queued before it.
            #expect(session.queue(["SELECT 1"]) != nil)
            try await eventually("the first statement to run") { try await client.query(hasRun).column(Bool.self) == [true] }
            withExtendedLifetime(session) {}
        }
    }

    private static func session(_ database: TestDatabase) throws -> Session {
        let configuration = database.configuration()
        return try Session(
            configuration, parameters: try configuration.connectionParameters(), front: try ConnectionThread(),
            isAbandoned: { false })
    }

    @Test(.client(connections: 1, configure: { $0.sendBufferBytes = 64 << 10 }))
    func `transactions that are larger than all buffers are carried out in order`() async throws {
        try await client.query("CREATE TABLE texts (number bigserial, text text)")
        let texts = (0..<8).map { String(repeating: "\($0)", count: 700_000 + $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for text in texts {
                group.addTask {
                    let answers = try await client.run([
                        "INSERT INTO texts (text) VALUES (\(text))", "SELECT text FROM texts ORDER BY number DESC LIMIT 1",
                        "SELECT length(\(text))",
                    ])
                    #expect(try answers[1].column(String.self) == [text])
                    #expect(try answers[2].column(Int32.self) == [Int32(text.utf8.count)])
                }
            }
            try await group.waitForAll()
        }
        #expect(try await client.query("SELECT count(*) FROM texts").column(Int64.self) == [8])
    }
}

import EventStore
import Events
import Postgres
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `Counting the attendees of an event` {
    private static let table: SQL = "\(identifier: AttendancesProjection.schema).attendances"

    private static func withTable(_ body: @escaping @Sendable (PostgresClient) async throws -> Void) async throws {
        try await TestDatabase.with([AttendancesProjection()]) { database in
            var configuration = database.configuration(connections: 1)
            configuration.sessionSettings = EventLog.sessionSettings
            try await withPostgres(configuration, logger: .quiet, body)
        }
    }

    /// What the writer sends for one batch.
    private static func statement(_ batch: some Sequence<EventEnvelope<AttendanceDomainEvent>>) throws -> SQL {
        let projection = AttendancesProjection()
        let writes = projection.writes(for: projection.fold(Array(batch)), in: AttendancesProjection.schema)
        return try #require(writes.first).statement
    }

    /// Eleven users who attend three events, leave and come back, until the last of them are erased.
    private static let history: [EventEnvelope<AttendanceDomainEvent>] = {
        var versions: [AttendanceKey: Int32] = [:]
        let changes = (0..<600).map { step in
            let key = AttendanceKey(Int64(step * step % 3 + 1), Int64(step * 7 % 11 + 1))
            let version = versions[key, default: 0] + 1
            versions[key] = version
            return version % 2 == 1 ? key.added(version) : key.removed(version)
        }
        return changes + versions.filter { $0.key.user.rawValue > 6 }.map { $0.key.erased($0.value + 1) }
    }()

    @Test(arguments: [1, 7, 1_000])
    func `batches of any size count the users who attend, as a rebuild does`(size: Int) async throws {
        try await Self.withTable { client in
            func rows() async throws -> [String] {
                try await client.query("SELECT a::text FROM \(Self.table) AS a ORDER BY event_id, user_id").decode(String.self)
            }
            try await client.query(try Self.statement(Self.history))
            let whole = try await rows()
            try await client.query("TRUNCATE \(Self.table)")
            for start in stride(from: 0, to: Self.history.count, by: size) {
                try await client.query(try Self.statement(Self.history.dropFirst(start).prefix(size)))
            }
            #expect(try await rows() == whole)
            let counted = try await client.query(
                "SELECT event_id, count(attended_at) FROM \(Self.table) GROUP BY event_id"
            ).decode((Int64, Int64).self)
            let counts = try await AttendancesModule.counts(of: (1...4).map { EventID(rawValue: $0) }, client)
            #expect(counts == Dictionary(uniqueKeysWithValues: counted.map { (EventID(rawValue: $0), $1) }))
        }
    }

    /// The pages that PostgreSQL reads for a statement.
    private static func pages(_ statement: SQL, _ client: PostgresClient) async throws -> Int {
        let plan = try await client.query("EXPLAIN (ANALYZE, BUFFERS) \(statement)").decode(String.self)
        let line = try #require(plan.first { $0.contains("Buffers: ") }, "\(plan)")
        return line.matches(of: /(?:hit|read)=(\d+)/).compactMap { Int($0.1) }.reduce(0, +)
    }

    @Test func `a count and a further attendance read as few pages for 10,000 guests as for three`() async throws {
        try await Self.withTable { client in
            let small = (1...1_000).flatMap { event in (1...3).map { AttendanceKey(event, $0).added(1) } }
            try await client.query(try Self.statement(small))
            for first in stride(from: 1, to: 10_000, by: 1_000) as StrideTo<Int64> {
                try await client.query(try Self.statement((first..<first + 1_000).map { AttendanceKey(2_000, $0).added(1) }))
            }
            for isAnalysed in [false, true] {
                if isAnalysed { try await client.query("ANALYZE \(Self.table)") }
                for event: Int64 in [7, 2_000] {
                    let count = try await Self.pages(AttendancesModule.query(ofCounts: [EventID(rawValue: event)]), client)
                    #expect(count <= 5, "\(event)")
                    let key = AttendanceKey(event, isAnalysed ? 20_000 : 10_001)
                    #expect(try await Self.pages(try Self.statement([key.added(1)]), client) <= 25, "\(event)")
                }
            }
        }
    }

    /// A search that steps over the rows of its own statement takes 30 pages for each of them.
    @Test func `a batch of one event reads as few pages for each attendance as a batch of many events`() async throws {
        try await Self.withTable { client in
            let one = try await Self.pages(try Self.statement((1...2_000).map { AttendanceKey(1, $0).added(1) }), client)
            let many = try await Self.pages(try Self.statement((1...2_000).map { AttendanceKey($0, 1).added(1) }), client)
            #expect(one < 2 * many, "\(one), \(many)")
        }
    }
}

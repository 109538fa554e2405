import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Searching the log` {
    private static let size: Int64 = 150_000
    private static let start: Int64 = 1_379_289_600_000

    /// A log with one recorded event a second, and one early event that differs from all others.
    private static func withLargeLog(_ body: @Sendable (PostgresClient) async throws -> Void) async throws {
        try await TestDatabase.with { database in
            try await database.withClient { client in
                try await client.query(
                    """
                    INSERT INTO log.recorded_events
                    SELECT n, gen_random_uuid(), CASE n WHEN 2000 THEN 'hut-1' ELSE 'counter-' || n END, 1,
                        CASE n WHEN 2000 THEN 'Built' ELSE 'Counted' END, 1, to_timestamp(\(Double(start / 1_000)) + n),
                        CASE n WHEN 2000 THEN '{"sign":"100% \\"quiet\\""}' ELSE format('{"number":%s}', n) END::json,
                        CASE n WHEN 2000 THEN '{"request_id":"needle","actor":77777,"trace_id":"thread"}'
                        ELSE format('{"request_id":"r-%s","actor":%s,"trace_id":null}', n / 10, n / 100) END::json
                    FROM generate_series(1, \(size)) AS n ORDER BY n
                    """
                )
                try await client.query("SELECT brin_summarize_new_values('log.recorded_events_search')")
                try await body(client)
            }
        }
    }

    private static let narrow = [
        LogCriteria(type: "Built"), LogCriteria(category: "hut"),
        LogCriteria(actor: 77_777), LogCriteria(requestID: "needle"), LogCriteria(traceID: "thread"),
        LogCriteria(
            since: Timestamp(milliseconds: start + 2_000_000), until: Timestamp(milliseconds: start + 2_001_000)),
    ]

    private struct Found: Equatable {
        var positions: [Int64]
        var continuesBefore: Int64?

        init(_ positions: [Int64], _ continuesBefore: Int64?) {
            self.positions = positions
            self.continuesBefore = continuesBefore
        }
    }

    @Test func `a search by any indexed field finds one event among many and reads few pages`() async throws {
        try await Self.withLargeLog { client in
            let pages = try await client.query(
                "SELECT pg_relation_size('log.recorded_events') / current_setting('block_size')::bigint"
            ).decode(Int64.self)[0]
            for criteria in Self.narrow {
                let found = try await LogSearch(client: client, criteria: criteria).find(limit: 5)
                #expect(found.events.map(\.position) == [2_000], "\(criteria)")
                #expect(found.continuesBefore == nil)
                let plan = try await client.withTransaction { connection in
                    // The plan of a parallel scan tells the blocks of one process only.
                    try await connection.run(LogSearch.onlyBySummaries + ["SET LOCAL max_parallel_workers_per_gather = 0"])
                    return try await connection.query(
                        "EXPLAIN (ANALYZE) \(criteria.query(1..<Self.size, limit: 5, isNear: false))"
                    )
                    .decode(String.self).joined(separator: "\n")
                }
                #expect(plan.contains("Bitmap Index Scan on recorded_events_search"), "\(plan)")
                #expect(!plan.contains("Seq Scan") && !plan.contains("recorded_events_pkey"), "\(plan)")
                let read = try #require(plan.firstMatch(of: /Heap Blocks: lossy=(\d+)/).flatMap { Int64($0.1) })
                #expect(read * 10 < pages, "\(read) of \(pages) pages: \(plan)")
            }
        }
    }

    @Test func `a search returns pages, stops at its reach, and returns where it stopped`() async throws {
        try await Self.withLargeLog { (client) async throws in
            func find(
                _ criteria: LogCriteria, before: Int64? = nil, limit: Int = 3, reach: Int64 = 1_000_000
            ) async throws -> Found {
                let found = try await LogSearch(client: client, criteria: criteria).find(
                    before: before, limit: limit, reach: reach)
                return Found(found.events.map(\.position), found.continuesBefore)
            }
            #expect(try await find(LogCriteria()) == Found([150_000, 149_999, 149_998], 149_998))
            #expect(try await find(LogCriteria(), before: 3) == Found([2, 1], nil))
            // Across two pages.
            let limit = Int(LogSearch.nearPage) + 1
            #expect(
                try await find(LogCriteria(), limit: limit)
                    == Found((140_000...150_000).reversed().map { Int64($0) }, 140_000))
            #expect(try await find(LogCriteria(actor: 20), before: 2_003) == Found([2_002, 2_001], nil))
            let until = LogCriteria(until: Timestamp(milliseconds: Self.start + 10_000))
            #expect(try await find(until) == Found([9, 8, 7], 7))
            // The text is matched literally: no wildcards, and quotation marks as people type them.
            #expect(try await find(LogCriteria(text: "100% \"quiet\"")) == Found([2_000], nil))
            #expect(try await find(LogCriteria(text: "100_")) == Found([], nil))
            #expect(try await find(LogCriteria(text: "quiet"), reach: 50_000) == Found([], 100_001))
            #expect(try await find(LogCriteria(text: "quiet"), before: 100_001, reach: 100_000) == Found([2_000], nil))
            // With an actor the index leaves so few rows that the reach does not stop the search.
            #expect(try await find(LogCriteria(actor: 77_777, text: "quiet"), reach: 10) == Found([2_000], nil))
        }
    }

    @Test func `a search of a billion positions takes ten statements with the index`() {
        var (searched, statements): (Int64, Int) = (0, 0)
        while searched < 1_000_000_000 {
            searched += LogSearch.farPage(after: statements)
            statements += 1
        }
        #expect(statements == 10)
    }

    /// The clock stood two days before at the positions from 60,001 to 90,000, and far ahead at 120,000.
    @Test func `times lead to their positions, also where the clock was set back`() async throws {
        try await Self.withLargeLog { client in
            func at(_ second: Int64) -> Timestamp { Timestamp(milliseconds: Self.start + second * 1_000) }
            func move(_ positions: ClosedRange<Int64>, bySeconds seconds: Double) async throws {
                try await client.query(
                    """
                    UPDATE log.recorded_events SET recorded_at = recorded_at + make_interval(secs => \(seconds))
                    WHERE position BETWEEN \(positions.lowerBound) AND \(positions.upperBound)
                    """)
            }
            try await client.query("ALTER TABLE log.recorded_events DISABLE TRIGGER USER")
            try await move(60_001...90_000, bySeconds: -172_800)
            try await move(120_000...120_000, bySeconds: 1_000_000)
            let times = LogTimes(client: client, tail: Self.size)
            #expect(try await times.position(before: at(0)) == 0)
            #expect(try await times.position(before: at(50_000)) == 49_999)
            // Those between have times of two days before.
            #expect(try await times.position(before: at(60_001)) == 90_000)
            #expect(try await times.position(before: at(150_000)) == 119_999)
            #expect(try await times.position(before: at(1_120_000)) == 119_999)
            #expect(try await times.position(before: .latest) == Self.size)
            #expect(try await times.positions(since: at(70_000), until: at(90_005)) == 90_001..<90_005)
            // Position 90,000 has the time of second -82,800, and position 60,001 that of -112,799.
            #expect(try await times.positions(since: nil, until: at(-112_798)) == 1..<60_002)
            #expect(try await times.positions(since: nil, until: at(-200_000)) == 1..<1)

            func find(_ criteria: LogCriteria) async throws -> [Int64] {
                try await LogSearch(client: client, criteria: criteria).find(limit: 5).events.map(\.position)
            }
            #expect(try await find(LogCriteria(since: at(1_000_000))) == [120_000])
            #expect(try await find(LogCriteria(until: at(-112_797))) == [60_002, 60_001])
            #expect(try await find(LogCriteria(since: at(-112_798), until: at(-112_796))) == [60_003, 60_002])
        }
    }
}

@Suite(.database) struct `Counting the log` {
    @Test func `the statistics count every kind of event, and the sum`() async throws {
        try await database.withClient { client in
            #expect(try await LogStatistics.read(client).isEmpty)
            try await client.query(
                """
                INSERT INTO log.recorded_events
                SELECT n, gen_random_uuid(), 'counter-' || n, 1, CASE WHEN n % 2 = 0 THEN 'Even' ELSE 'Odd' END, 1,
                    to_timestamp(n), '{"n":1}', '{}' FROM generate_series(1, 60001) AS n
                """
            )
            let rows = try await LogStatistics.read(client)
            #expect(rows.map(\.type) == ["Even", "Odd", "(all)"])
            #expect(rows.map(\.category) == ["counter", "counter", "(all)"])
            #expect(rows.map(\.events) == [30_000, 30_001, 60_001])
            let odd = rows[1]
            #expect(odd.bytes == 30_001 * 9)
            #expect((odd.firstAt, odd.lastAt) == (Timestamp(milliseconds: 1_000), Timestamp(milliseconds: 60_001_000)))
            #expect(odd.perDay.map { Int($0) } == 43_201)
        }
    }
}

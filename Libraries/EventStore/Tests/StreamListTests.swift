import Encoding
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Listing streams` {
    @Test func `streams are listed in pages, with counts and times`() async throws {
        try await TestStore.with { store in
            for counter in ["a", "b", "b2", "c"] { _ = try await store.log.record(.counting(counter, after: 0)) }
            _ = try await store.log.record(.counting("b", after: 1))
            try await store.database.asSuperuser(
                "INSERT INTO log.recorded_events SELECT 6, gen_random_uuid(), 'counter2-z', 1, type, 1, now(), data, metadata FROM log.recorded_events WHERE position = 1"
            )
            let moment = Timestamp(milliseconds: 1_379_289_600_123)
            let first = try await store.reader.streams(ofCategory: "counter", limit: 2)
            #expect(first.map(\.stream) == [StreamName("counter-a"), StreamName("counter-b")])
            #expect(first.map(\.version) == [1, 2])
            #expect(first.allSatisfy { $0.firstAt == moment && $0.lastAt == moment })
            let second = try await store.reader.streams(ofCategory: "counter", after: first[1].stream, limit: 5)
            #expect(second.map(\.stream.key) == ["b2", "c"])
            #expect(try await store.reader.streams(limit: 9).map(\.stream.category).suffix(2) == ["counter", "counter2"])
            #expect(try await store.reader.streams(ofCategory: "count", limit: 9).isEmpty)
            #expect(try await store.reader.streams(ofCategory: "counter", after: StreamName("aaa-1"), limit: 1).count == 1)
            #expect(try await store.reader.streams(ofCategory: "counter", after: StreamName("zzz-1"), limit: 1).isEmpty)
        }
    }

    @Test func `a page of the stream list reads the streams of that page only`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient { client in
                try await client.query(
                    """
                    INSERT INTO log.recorded_events
                    SELECT n, gen_random_uuid(), 'counter-' || n % 20000, 1 + n / 20000, 'Counted', 1, now(), '{}', '{}'
                    FROM generate_series(1, 60000) AS n
                    """
                )
                let page = LogReader.streamsQuery(ofCategory: "counter", after: StreamName("counter-5"), limit: 20)
                let plan = try await client.query("EXPLAIN (ANALYZE, BUFFERS) \(page)").decode(String.self).joined(
                    separator: "\n")
                #expect(!plan.contains("Seq Scan"), "\(plan)")
                let buffers = plan.matches(of: /shared hit=(\d+)/).compactMap { Int($0.1) }.max() ?? .max
                // The query descends the index twice for each name, for its first and its last event; the log has 900 pages and
                // more.
                #expect(buffers < 20 * 3 * 5, "\(plan)")
            }
        }
    }
}

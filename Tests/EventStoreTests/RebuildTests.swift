import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Rebuilding a read model` {
    private static func fill(_ store: TestStore, from: Int = 0, _ count: Int = 40) async throws {
        for number in from..<from + count {
            _ = try await store.log.append(.counting("\(number % 7)-x", after: Int32(number / 7), by: Int64(number)))
        }
    }

    @Test func `that was dropped finds every row again`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store)
            let before = try await store.sums()
            try await store.client.query("DROP SCHEMA sums CASCADE")
            try await store.models.rebuild { _ in }
            #expect(try await store.sums() == before)
            #expect(before.count == 7)
        }
    }

    @Test func `puts right what was wrong, keeps the old tables, and goes on`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store)
            let before = try await store.sums()
            try await store.client.query("UPDATE sums.sums SET sum = 999")
            try await store.models.rebuild { _ in }
            #expect(try await store.sums() == before)
            #expect(try await store.client.query("SELECT 1::bigint FROM sums_before.sums WHERE sum = 999").count == 7)
            try await Self.fill(store, from: 40, 10)
            #expect(try await store.reader.tail() == 50)
        }
    }

    @Test func `while appends go on misses none`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store, 30)
            async let more: Void = Self.fill(store, from: 30, 120)
            for _ in 0..<5 { try await store.models.rebuild { _ in } }
            try await more
            let live = try await store.sums()
            try await store.models.rebuild { _ in }
            #expect(try await store.sums() == live)
            #expect(try await store.reader.tail() == 150)
        }
    }

    @Test func `that was broken off goes on where it was`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store)
            let before = try await store.sums()
            // What a rebuild that was killed after 14 recorded events leaves.
            try await store.client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE SCHEMA sums_rebuild; \(SumProjection.tables(in: "sums_rebuild"))
                        INSERT INTO sums_rebuild.sums SELECT (n % 7) || '-x', sum(n), 2 FROM generate_series(0, 13) AS n GROUP BY n % 7;
                        INSERT INTO log.checkpoints VALUES ('sums_rebuild', 1, 14);
                        """
                )
            }
            try await store.models.rebuild { _ in }
            #expect(try await store.sums() == before)
        }
    }

    @Test func `is asked for when another version wrote it, and appends are refused meanwhile`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store, 3)
            try await store.client.query("UPDATE log.checkpoints SET version = 2")
            await #expect(throws: ReadModelError.otherVersion("sums", found: 2, wanted: 1)) { try await store.models.prepare() }
            await #expect(throws: ReadModelError.outOfStep) { _ = try await store.log.append(.counting("z", after: 0)) }
            #expect(try await store.reader.tail() == 3)
        }
    }

    @Test func `is asked for when it is behind the log`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store, 3)
            try await TestStore.withLog(store.client, projections: []) { log in
                _ = try await log.append(.counting("stranger", after: 0))
            }
            await #expect(throws: ReadModelError.behind("sums", position: 3, tail: 4)) { try await store.models.prepare() }
            await #expect(throws: ReadModelError.outOfStep) { _ = try await store.log.append(.counting("z", after: 0)) }
            try await store.models.rebuild { _ in }
            try await store.models.prepare()
            #expect(try await store.log.append(.counting("z", after: 0)).position == 5)
        }
    }

    @Test func `twice at once comes to the same`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store)
            let before = try await store.sums()
            let results = try await gather(2) { _ in try await store.models.rebuild { _ in } }
            #expect(results.contains { (try? $0.get()) != nil })
            #expect(try await store.sums() == before)
        }
    }
}

@Suite struct `Numbers for users and events` {
    @Test func `are handed out once each, to many askers at once`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient(role: "humon_app") { client in
                let ids = IDSource(sequence: "log.user_ids", client: client)
                let results = try await gather(500) { _ in try await ids.next() }
                #expect(results.compactMap { try? $0.get() }.sorted() == Array(1...500))
            }
        }
    }
}

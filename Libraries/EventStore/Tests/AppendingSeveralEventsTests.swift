import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Appending several events` {
    private static func append(_ streams: [StreamAppend], id: UUID = UUID()) -> AppendRequest {
        let model = AppendRequest.counting("", after: 0)
        return AppendRequest(id: id, streams: streams, recordedAt: model.recordedAt, metadata: model.metadata)
    }

    @Test func `the events of two streams are recorded at positions in order, and the read models show them`() async throws {
        try await TestStore.with { store in
            let append = Self.append([.counting("a", after: 0, by: 1, 2), .counting("b", after: 0, by: 3, 4, 5)])
            let recorded = try await store.log.record(append)
            #expect(recorded.place == RecordedPlace(position: 5, stream: StreamName("counter-b"), version: 3))
            let log = try await store.reader.read(after: 0, limit: 9)
            #expect(
                log.map { "\($0.envelope.stream) \($0.envelope.version)" }
                    == ["a 1", "a 2", "b 1", "b 2", "b 3"].map { "counter-\($0)" })
            #expect(log.map(\.envelope.id) == append.envelopes.map(\.id))
            #expect(try await store.sums() == ["(a,3,2)", "(b,12,3)"])
            #expect(try await store.models.verify { _ in }.map(\.differing) == [0])
        }
    }

    @Test func `if one stream has another version, nothing of the append is recorded`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("b", after: 0))
            let refused = Self.append([.counting("a", after: 0, by: 1, 2), .counting("b", after: 0, by: 3)])
            let conflict = VersionConflict(stream: StreamName("counter-b"), expected: 0, actual: 1)
            #expect(try await store.log.append(refused) == .conflict(conflict))
            #expect(try await store.reader.tail() == 1)
            #expect(try await store.sums() == ["(b,1,1)"])
        }
    }

    @Test func `if a read model refuses one event, nothing of the append is recorded`() async throws {
        try await TestStore.with { store in
            await #expect(throws: PostgresError.self) {
                _ = try await store.log.append(Self.append([.counting("a", after: 0, by: 1, -14)]))
            }
            let tail = try await store.reader.tail()
            #expect(tail == 0)
            #expect(try await store.sums() == [])
        }
    }

    @Test func `a repetition gets the place of the last event, and records nothing`() async throws {
        try await TestStore.with { store in
            let append = Self.append([.counting("a", after: 0, by: 1, 2), .counting("b", after: 0, by: 3)])
            let first = try await store.log.record(append)
            let results = try await gather(50) { _ in try await store.log.record(append) }
            #expect(results.appended.map(\.place) == Array(repeating: first.place, count: 50))
            #expect(!results.appended.contains { !$0.isRepeat })
            #expect(try await store.reader.tail() == 3)
        }
    }

    @Test func `refused appends fail no neighbours, and a listener gets each commit in contiguous positions`() async throws {
        final class Heard: CommitListener {
            let positions = Mutex<[Int64]>([])
            func committed(_ commit: Commit) { positions.withLock { $0 += commit.firstPosition...commit.through } }
        }
        try await TestStore.with { store in
            let heard = Heard()
            try await TestStore.withLog(store.client, projections: [SumProjection()], listener: heard) { log in
                let results = try await gather(200) { number in
                    let version: Int32 = number % 5 == 0 ? 1 : 0
                    return try await log.record(
                        Self.append([
                            .counting("\(number)-a", after: 0, by: 1, 2), .counting("\(number)-b", after: version, by: 3),
                        ]))
                }
                #expect(results.appended.count == 160)
            }
            let positions = heard.positions.withLock { $0.sorted() }
            #expect(positions == Array(1...480))
            #expect(try await store.sums().count == 320)
            // The events of one append are neighbours.
            let log = try await store.reader.read(after: 0, limit: 1_000)
            for start in stride(from: 0, to: 480, by: 3) {
                #expect(Set(log[start..<start + 3].map { $0.envelope.stream.key.split(separator: "-")[0] }).count == 1)
            }
        }
    }
}

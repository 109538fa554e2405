import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Appending several events` {
    private static func append(_ streams: [StreamAppend], id: UUID = UUID()) -> AppendRequest {
        let model = AppendRequest.counting("", after: 0)
        return AppendRequest(id: id, streams: streams, recordedAt: model.recordedAt, metadata: model.metadata)
    }

    @Test func `the events of two streams are recorded at positions in order, and the read models show them`() async throws {
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
        let again = try await store.log.record(append)
        #expect((again.place, again.isRepeat) == (recorded.place, true))
        #expect(try await store.reader.tail() == 5)
    }

    @Test func `an append requires the version of a stream that gets no event, and of one that does not exist`() async throws {
        _ = try await store.log.record(.counting("b", after: 0))
        let recorded = try await store.log.record(
            Self.append([.counting("b", after: 1), .counting("none", after: 0), .counting("a", after: 0, by: 2)]))
        #expect(recorded.place == RecordedPlace(position: 2, stream: StreamName("counter-a"), version: 1))
        for version: Int32 in [0, 2] {
            let stale = Self.append([.counting("b", after: version), .counting("a", after: 1, by: 3)])
            let conflict = VersionConflict(stream: StreamName("counter-b"), expected: version, actual: 1)
            #expect(try await store.log.append(stale) == .conflict(conflict))
        }
        #expect(try await store.reader.tail() == 2)
        #expect(try await store.sums() == ["(a,2,1)", "(b,1,1)"])
    }

    @Test func `of appends that require a version and those that change it, each sees the ones before it`() async throws {
        let results = try await gather(100) { number in
            let (changed, kept) = number.isMultiple(of: 2) ? ("a", "b") : ("b", "a")
            return try await store.log.record(Self.append([.counting(kept, after: 0), .counting(changed, after: 0, by: 1)]))
        }
        // Whichever is recorded first refuses all others.
        #expect(results.appended.count == 1)
        #expect(try await store.reader.tail() == 1)
    }
}

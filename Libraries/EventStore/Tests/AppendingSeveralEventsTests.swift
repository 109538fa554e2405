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
}

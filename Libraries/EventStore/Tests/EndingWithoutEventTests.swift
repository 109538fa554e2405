import Foundation
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Ending a command without an event` {
    @Test func `a repetition gets the first result after the stream has grown, and another request is refused`() async throws {
        for (counter, version) in [("a", 0), ("b", 1)] as [(String, Int32)] {
            for earlier in 0..<version { _ = try await store.log.record(.counting(counter, after: earlier)) }
            let key = (id: UUID(derivedFrom: counter), requestHash: RequestHash(of: "this".utf8))
            func ending(_ version: Int32, _ key: AppendRequest.Key) -> AppendRequest {
                .ending(.counting(counter, after: version), key)
            }
            let tail = try await store.reader.tail()
            let first = try await store.log.record(ending(version, key))
            #expect((first.position, first.version, first.isRepeat) == (version == 0 ? 0 : tail, version, true))
            _ = try await store.log.record(.counting(counter, after: version))
            // The same command decides on the stream as it is now: without an event, and with one.
            var append = AppendRequest.counting(counter, after: version + 1, id: key.id)
            append.setKey(key.requestHash)
            for repetition in [ending(version + 1, key), append] {
                let again = try await store.log.record(repetition)
                #expect((again.stream.key, again.version, again.isRepeat) == (counter, version, true))
            }
            let other = (id: key.id, requestHash: RequestHash(of: "other".utf8))
            append.setKey(other.requestHash)
            for repetition in [ending(version + 1, other), append] {
                #expect(try await store.log.append(repetition) == .keyReused)
            }
            #expect(try await store.reader.tail() == tail + 1)
        }
    }
}

extension AppendRequest {
    /// The key of a command, as the log has it.
    typealias Key = (id: UUID, requestHash: RequestHash)

    /// A command that changes nothing.
    static func ending(_ stream: StreamAppend, _ key: Key?) -> AppendRequest {
        let model = AppendRequest.counting("", after: 0)
        return AppendRequest(
            id: key?.id ?? model.id, requestHash: key?.requestHash, owner: person, streams: [stream],
            recordedAt: model.recordedAt,
            metadata: model.metadata)
    }
}

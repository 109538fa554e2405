import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Ending a command without an event` {
    private static let stream = StreamName(category: Counted.category, key: "a")

    private static func key(_ request: String, name: String = "key") -> AppendRequest.Key {
        (UUID(derivedFrom: name), RequestHash(of: request.utf8))
    }

    private static func ending(_ version: Int32, _ key: AppendRequest.Key?) -> AppendRequest {
        .ending(StreamAppend([], to: stream, after: version), key)
    }

    @Test(arguments: [0, 1] as [Int32])
    func `a repetition gets the first result after the stream has grown, and another request is refused`(version: Int32)
        async throws
    {
        try await TestStore.with { store in
            for earlier in 0..<version { _ = try await store.log.record(.counting("a", after: earlier)) }
            let first = try await store.log.record(Self.ending(version, Self.key("this")))
            #expect((first.position, first.version, first.isRepeat) == (Int64(version), version, true))
            _ = try await store.log.record(.counting("a", after: version))
            // The same command decides on the stream as it is now: without an event, and with one.
            var append = AppendRequest.counting("a", after: version + 1, id: Self.key("this").id)
            append.setKey(Self.key("this").requestHash)
            for repetition in [Self.ending(version + 1, Self.key("this")), append] {
                let again = try await store.log.record(repetition)
                #expect((again.stream, again.version, again.isRepeat) == (Self.stream, version, true))
            }
            #expect(try await store.log.append(Self.ending(version + 1, Self.key("other"))) == .keyReused)
            #expect(try await store.reader.tail() == Int64(version) + 1)
        }
    }

    @Test func `a stream that has another version than the decision is a conflict, and nothing is remembered`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            let conflict = VersionConflict(stream: Self.stream, expected: 0, actual: 1)
            for key in [nil, Self.key("this")] {
                #expect(try await store.log.append(Self.ending(0, key)) == .conflict(conflict))
            }
            #expect(try await store.log.record(Self.ending(1, Self.key("other"))).version == 1)
        }
    }

    @Test func `an append under the key of a command that changed nothing gets its result`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(Self.ending(0, Self.key("this")))
            var append = AppendRequest.counting("a", after: 0, id: Self.key("this").id)
            append.setKey(Self.key("this").requestHash)
            let result = try await store.log.record(append)
            #expect(result.version == 0 && result.isRepeat)
            append.setKey(Self.key("other").requestHash)
            #expect(try await store.log.append(append) == .keyReused)
            #expect(try await store.reader.tail() == 0)
        }
    }

    @Test func `commands without events do not fail their neighbours, and do not fail with them`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(.counting("a", after: 0))
            let results = try await gather(200) { number in
                switch number % 4 {
                // The stream has version 1.
                case 0: try await store.log.record(Self.ending(1, Self.key("this", name: "\(number)")))
                case 1: try await store.log.record(Self.ending(0, Self.key("this", name: "\(number)")))
                case 2: try await store.log.record(Self.ending(1, nil))
                default: try await store.log.record(.counting("\(number)", after: 0))
                }
            }
            #expect(results.appended.count == 150)
            #expect(try await store.reader.tail() == 51)
            #expect(try await store.commands() == 50)
        }
    }

    @Test func `a command without an event meets its conditions`() async throws {
        try await TestStore.with { store in
            var ending = Self.ending(0, Self.key("this"))
            ending.conditions = [AppendCondition(stream: StreamName("counter-user"), lastID: UUID())]
            let result = try await store.log.append(ending)
            #expect(result == .failedCondition(ending.conditions[0]))
            #expect(try await store.commands() == 0)
        }
    }
}

extension TestStore {
    /// The number of commands that are stored under their keys.
    fileprivate func commands() async throws -> Int {
        try await client.query("SELECT id FROM log.commands").decode(UUID.self).count
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

import Foundation
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Ending a command without an event` {
    private static let stream = StreamName(category: Counted.category, key: "a")

    private static func key(_ request: String) -> IdempotencyRecordKey {
        IdempotencyRecordKey(id: UUID(derivedFrom: "key"), requestHash: RequestHash(of: request.utf8))
    }

    @Test(arguments: [0, 1] as [Int32])
    func `a repetition gets the first result after the stream has grown, and another request is refused`(version: Int32)
        async throws
    {
        try await TestStore.with { store in
            let commands = IdempotencyStore(client: store.client)
            for earlier in 0..<version { _ = try await store.log.append(.counting("a", after: earlier)) }
            let first = try await commands.endWithoutEvent(Self.key("this"), stream: Self.stream, version: version)
            _ = try await store.log.append(.counting("a", after: version))
            let again = try await commands.idempotently(Self.key("this")) {
                Issue.record("the command is carried out twice")
                return first
            }
            #expect((again.stream, again.version, again.isRepeat) == (Self.stream, version, true))
            await #expect(throws: KeyReusedError.self) { _ = try await commands.idempotently(Self.key("other")) { first } }
        }
    }

    @Test func `a stream that has another version than the decision is a conflict, and nothing is remembered`() async throws {
        try await TestStore.with { store in
            let commands = IdempotencyStore(client: store.client)
            _ = try await store.log.append(.counting("a", after: 0))
            await #expect(throws: VersionConflictError(stream: Self.stream, expected: 0, actual: 1)) {
                _ = try await commands.endWithoutEvent(Self.key("this"), stream: Self.stream, version: 0)
            }
            let second = try await commands.endWithoutEvent(Self.key("other"), stream: Self.stream, version: 1)
            #expect(second.version == 1)
        }
    }

    @Test func `an append under the key of a command that changed nothing gets its result`() async throws {
        try await TestStore.with { store in
            _ = try await IdempotencyStore(client: store.client).endWithoutEvent(
                Self.key("this"), stream: Self.stream, version: 0)
            var append = AppendRequest.counting("a", after: 0, id: Self.key("this").id)
            append.requestHash = Self.key("this").requestHash
            let result = try await store.log.append(append)
            #expect(result.version == 0 && result.isRepeat)
            append.requestHash = Self.key("other").requestHash
            let reusing = append
            await #expect(throws: KeyReusedError.self) { _ = try await store.log.append(reusing) }
            #expect(try await store.reader.tail() == 0)
        }
    }
}

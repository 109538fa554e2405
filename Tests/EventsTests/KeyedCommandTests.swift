import EventStore
import Foundation
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `A command on an event under an idempotency key` {
    /// Changes an event from `picnic` to `concert` and back, each time under another key.
    private static func update(_ id: EventID, _ number: Int, _ node: TestNode<EventsModule>) async throws -> Int64 {
        let key = IdempotencyKey("\(number)", request: "update \(number)".utf8)
        let details = number.isMultiple(of: 2) ? EventDetails.concert : .picnic
        return try await node.module.update(
            UpdateEvent(id: id, change: .replace(details), by: .ann, condition: VersionCondition()),
            context: CommandContext(requestID: "test", key: key)
        ).position
    }

    @Test func `a late repetition gets the first position and changes nothing, whatever its rule would decide now`() async throws
    {
        try await TestNode<EventsModule>.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                let id = try await node.create().id
                for number in 0..<4 { #expect(try await Self.update(id, number, node) == Int64(number) + 2) }
                for number in 0..<4 { #expect(try await Self.update(id, number, node) == Int64(number) + 2) }
                #expect(try await node.module.event(id)?.version == 5)
                _ = try await node.module.cancel(CancelEvent(id: id, by: .ann), context: CommandContext(requestID: "test"))
                // The rule refuses each of them now.
                for number in 0..<4 { #expect(try await Self.update(id, number, node) == Int64(number) + 2) }
                await #expect(throws: EventRejection.cancelled) { _ = try await Self.update(id, 4, node) }
                #expect(try await node.reader.tail() == 6)
            }
        }
    }

    @Test func `a refused command names a failed condition before its rejection`() async throws {
        try await TestNode<EventsModule>.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                let id = try await node.create().id
                let condition = AppendCondition(stream: StreamName("user-1"), lastID: UUID(derivedFrom: "token"))
                let context = CommandContext(requestID: "test", conditions: [condition])
                let command = CancelEvent(id: EventID(rawValue: id.rawValue + 1), by: .ann)
                await #expect(throws: FailedConditionError(condition: condition)) {
                    _ = try await node.module.cancel(command, context: context)
                }
                await #expect(throws: EventRejection.notFound) {
                    _ = try await node.module.cancel(command, context: CommandContext(requestID: "test"))
                }
            }
        }
    }
}

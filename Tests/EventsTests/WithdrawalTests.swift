import Encoding
import EventStore
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Withdrawing an event` {
    @Test func `a repetition records nothing, with and without an idempotency key`() async throws {
        try await TestNode.with { node in
            let id = try await node.create().id
            let key = IdempotencyKey("cancel", request: Array("DELETE".utf8))
            let context = CommandContext(requestID: "test", key: key)
            let command = CancelEvent(id: id, by: .ann)
            let first = try await node.module.cancel(command, context: context)
            #expect(first.position == 2)
            #expect(try await node.module.cancel(command, context: context).position == 2)
            #expect(try await node.cancel(id) >= 2)
            let later = CommandContext(requestID: "test", key: IdempotencyKey("later", request: Array("DELETE".utf8)))
            for _ in 0..<2 { #expect(try await node.module.cancel(command, context: later).position >= 2) }
            await #expect(throws: KeyReusedError.self) {
                let other = IdempotencyKey("later", request: Array("DELETE another".utf8))
                _ = try await node.module.cancel(command, context: CommandContext(requestID: "test", key: other))
            }
            #expect(try await node.hide(id) == 3)
            #expect(try await node.hide(id) >= 3)
            #expect(try await node.unhide(id) == 4)
            #expect(try await node.unhide(id) >= 4)
            #expect(try await LogReader(client: node.client).tail() == 4)
            let cancelled = try await node.module.event(id)
            #expect(throws: EventRejection.cancelled) { try cancelled.live(for: .bob) }
        }
    }

    @Test func `50 concurrent cancellations record one`() async throws {
        try await TestNode.with { node in
            let id = try await node.create().id
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try await node.cancel(id) } }
                try await group.waitForAll()
            }
            #expect(try await LogReader(client: node.client).tail() == 2)
        }
    }

    @Test func `an operator's command has no actor`() async throws {
        try await TestNode.with { node in
            let id = try await node.create().id
            try await node.hide(id)
            try await node.unhide(id)
            let recorded = try await LogReader(client: node.client).read(stream: id.stream)
            #expect(try recorded.map { try $0.envelope.metadata.values().actor } == [1, nil, nil])
            #expect(recorded.map(\.envelope.event.type) == ["EventCreated", "EventHidden", "EventUnhidden"])
        }
    }

    @Test func `a page of a user's events scans the database's index of owners`() async throws {
        try await TestNode.withDatabase { database in
            _ = try await database.withClient { client in
                try await client.query(
                    """
                    INSERT INTO events_v1.events
                    SELECT id, 1, 1 + id % 100, 'Party', NULL, 0, 0, now(), NULL, 0, 1, 0, 0, false, false
                    FROM generate_series(1, 10000) AS id
                    """)
                try await client.query("ANALYZE events_v1.events")
            }
            var configuration = database.configuration(role: "log_app", connections: 1)
            configuration.sessionSettings = ["enable_seqscan": "off"]
            try await withPostgres(configuration, logger: .quiet) { client in
                let query = try OwnEvents(of: .ann, ["limit": "10", "after": "5000"]).query
                let plan = try await client.query("EXPLAIN \(query)").decode(String.self).joined(separator: "\n")
                #expect(plan.contains("events_of_owner"), "\(plan)")
            }
        }
    }

    @Test func `the events of a user come newest first, page by page, without cancelled and hidden ones`() async throws {
        try await TestNode.with { node in
            var ids: [EventID] = []
            for number in 0..<7 { ids.append(try await node.create(by: number == 3 ? .bob : .ann).id) }
            try await node.cancel(ids[1])
            let position = try await node.hide(ids[4])
            func page(_ fields: JSON) async throws -> OwnEvents.Page {
                let own = try OwnEvents(of: .ann, fields)
                return try await node.module.page(own, atLeast: position)
            }
            let first = try await page(["limit": "2"])
            #expect(first.events.map(\.id) == [ids[6], ids[5]])
            #expect(first.next == ids[5])
            // The cursor survives the cancellation of its event.
            try await node.cancel(ids[5])
            let second = try await page(["limit": "2", "after": .string("\(ids[5].rawValue)")])
            #expect(second.events.map(\.id) == [ids[2], ids[0]])
            #expect(second.next == nil)
            #expect(try await page([:]).events.map(\.id) == [ids[6], ids[2], ids[0]])
            #expect(try await page(["after": .string("\(ids[0].rawValue)")]) == OwnEvents.Page(events: [], next: nil))
            await #expect(throws: PositionNotReachedError(position: 99)) {
                _ = try await node.module.page(try OwnEvents(of: .ann, [:]), atLeast: 99)
            }
        }
    }
}

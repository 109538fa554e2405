import Accounts
import Encoding
import EventStore
import Postgres
import TestDatabase
import Testing

@testable import Tasks

@Suite struct `Carrying out commands on tasks` {
    @Test func `the list is in the order of creation, although the ids are not`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in
                try await database.asSuperuser("SELECT setval('log.task_ids', 100)")
                let first = try await node.create("First")
                try await database.asSuperuser("SELECT setval('log.task_ids', 1)")
                let second = try await node.create("Second")
                #expect(first.id.rawValue > second.id.rawValue)
                #expect(try await node.titles() == ["First", "Second"])
            }
        }
    }

    @Test func `an erased task has no row, as after a rebuild`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            let car = try await node.create("Wash the car").id
            try await node.update(car, ["completed": "1"])
            _ = try await node.delete(node.create("Call Ann").id)
            try await node.update(id, ["title": "Buy tea"])
            #expect(try await node.append(TaskDomainEvent.erased, to: id.stream, after: 2).version == 3)
            #expect(try await node.titles() == ["Wash the car"])
            let models = ReadModels(projections: [TasksProjection()], client: node.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }

    @Test func `a repeated creation under one key creates one task and returns it as it was`() async throws {
        try await TestNode.with { node in
            let key = IdempotencyKey("1", request: "create".utf8)
            let first = try await node.create("Buy milk", completed: "1", key: key)
            #expect(first.isCompleted)
            #expect(try await node.tasks.tasks(of: ann) == [first])
            try await node.update(first.id, ["completed": "0"])
            #expect(try await node.create("Buy milk", completed: "1", key: key) == first)
            let events = try await node.reader.read(after: 0, limit: 10)
            #expect(events.map(\.envelope.event.type) == ["TaskCreated", "TaskCompleted", "TaskReopened"])
            await #expect(throws: KeyReusedError.self) {
                _ = try await node.create("Buy tea", key: IdempotencyKey("1", request: "other".utf8))
            }
            // The key of another account is another key.
            #expect(try await node.create("Buy milk", by: bob, key: key).id != first.id)
            #expect(try await node.titles() == ["Buy milk"])
        }
    }

    @Test func `a repeated change under one key changes nothing more and returns the task as it was`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            let key = IdempotencyKey("1", request: "complete".utf8)
            let none = IdempotencyKey("2", request: "rename".utf8)
            let (first, position) = try await node.update(id, ["completed": "1"], key: key)
            let (same, _) = try await node.update(id, ["title": "Buy milk"], key: none)
            #expect(same == first)
            try await node.update(id, ["title": "Buy tea", "completed": "0"])
            let again = try await node.update(id, ["completed": "1"], key: key)
            #expect((again.task, again.position) == (first, position))
            // A change that changed nothing is remembered, too.
            #expect(try await node.update(id, ["title": "Buy milk"], key: none).task == first)
            #expect(try await node.titles() == ["Buy tea"])
            await #expect(throws: KeyReusedError.self) {
                try await node.update(id, ["completed": "0"], key: IdempotencyKey("1", request: "other".utf8))
            }
            // The key of another account is another key.
            await #expect(throws: TaskRejection.notFound) { try await node.update(id, ["completed": "1"], by: bob, key: key) }
            _ = try await node.delete(id)
            #expect(try await node.update(id, ["completed": "1"], key: key).task == first)
            // A deleted task is gone, for its account too.
            #expect(try await node.titles() == [])
            await #expect(throws: TaskRejection.notFound) { _ = try await node.delete(id) }
            await #expect(throws: TaskRejection.notFound) { try await node.update(id, ["completed": "1"]) }
            // An erasure of the account must find it.
            let rows: SQL = "SELECT account_id FROM \(identifier: TasksProjection.schema).tasks WHERE title IS NULL"
            #expect(try await node.client.query(rows).decode(Int64.self) == [ann.rawValue])
        }
    }
}

import Accounts
import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import Tasks

@Suite struct `Carrying out commands on tasks` {
    @Test func `an account lists its own tasks, as created`() async throws {
        try await TestNode.with { node in
            for title in ["Buy milk", "Wash the car"] { _ = try await node.create(title) }
            _ = try await node.create("Call Ann", by: bob)
            #expect(try await node.titles() == ["Buy milk", "Wash the car"])
            #expect(try await node.titles(bob) == ["Call Ann"])
            #expect(try await node.titles(AccountID(rawValue: 9)) == [])
        }
    }

    @Test func `the list is in the order of creation, although two servers take ids from stocks`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database) { second in
                    // Callers at the same time make a server keep ids in stock.
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<20 { group.addTask { _ = try await first.create("Other", by: bob) } }
                        try await group.waitForAll()
                    }
                    let late = try await second.create("First")
                    let early = try await first.create("Second")
                    #expect(try await second.titles() == ["First", "Second"], "\(late.id.rawValue) \(early.id.rawValue)")
                }
            }
        }
    }

    @Test func `a repeated creation beside the first one gets its task, also if that is the last one of the limit`() async throws
    {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database) { second in
                    // Rows of the read model alone, because only their number counts.
                    try await database.withClient { client in
                        _ = try await client.query(
                            """
                            INSERT INTO tasks_v1.tasks SELECT id, 1, \(ann.rawValue), now(), 'Old', false
                            FROM generate_series(1000001, 1000999) AS id
                            """)
                    }
                    for round in 0..<10 {
                        let key = IdempotencyKey("key-\(round)", request: "create".utf8)
                        let ids = try await withThrowingTaskGroup(of: TaskID.self) { group in
                            for number in 0..<8 {
                                let node = number % 2 == 0 ? first : second
                                group.addTask { try await node.create("Last", key: key).id }
                            }
                            return try await group.reduce(into: Set()) { $0.insert($1) }
                        }
                        #expect(ids.count == 1)
                        await #expect(throws: TaskRejection.self) { _ = try await first.create("Too many") }
                        _ = try await first.delete(try #require(ids.first))
                    }
                }
            }
        }
    }

    @Test func `a task changes its title and its state, each by a domain event`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            let (task, position) = try await node.update(id, ["title": "Buy tea", "completed": "1"])
            #expect((task.title, task.isCompleted, task.version, position) == ("Buy tea", true, 3, 3))
            #expect(try await node.tasks.tasks(of: ann) == [task])
            // A repetition changes nothing more.
            #expect(try await node.update(id, ["title": "Buy tea", "completed": "1"]).task == task)
            #expect(try await node.update(id, ["completed": "0"]).task.isCompleted == false)
            let types = try await LogReader(client: node.client).read(after: 0, limit: 10).map(\.envelope.event.type)
            #expect(types == ["TaskCreated", "TaskRenamed", "TaskCompleted", "TaskReopened"])
        }
    }

    @Test func `a change of title and state is one append, which a change at the same time does not divide`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    let completed = number.isMultiple(of: 2) ? "1" : "0"
                    group.addTask {
                        try await node.update(id, ["title": .string("Title \(number)"), "completed": .string(completed)])
                    }
                }
                try await group.waitForAll()
            }
            let events = try await node.reader.read(stream: id.stream)
            #expect(events.map(\.envelope.version) == Array(1...Int32(events.count)))
            // A change of the state stands behind the title of the same request.
            for (index, event) in events.enumerated() where ["TaskCompleted", "TaskReopened"].contains(event.envelope.event.type)
            {
                let before = events[index - 1].envelope
                #expect(before.event.type == "TaskRenamed" && before.recordedAt == event.envelope.recordedAt)
            }
            let last = try #require(try await node.tasks.tasks(of: ann).first)
            #expect(last.version == Int32(events.count))
        }
    }

    @Test func `a deleted task is gone, for its account too`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            #expect(try await node.delete(id) == 2)
            #expect(try await node.titles() == [])
            await #expect(throws: TaskRejection.notFound) { _ = try await node.delete(id) }
            await #expect(throws: TaskRejection.notFound) { try await node.update(id, ["completed": "1"]) }
            // An erasure of the account must find it.
            let rows: SQL = "SELECT account_id FROM \(identifier: TasksProjection.schema).tasks WHERE title IS NULL"
            #expect(try await node.client.query(rows).decode(Int64.self) == [ann.rawValue])
        }
    }

    @Test func `an erased task has no row, also after a rebuild`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            _ = try await node.create("Wash the car")
            try await node.update(id, ["title": "Buy tea"])
            let append = AppendRequest(
                id: UUID(),
                streams: [StreamAppend([TaskDomainEvent.erased], to: id.stream, after: 2)],
                recordedAt: Timestamp(milliseconds: 1_379_289_600_000),
                metadata: Metadata(requestID: "test", actor: nil, traceID: nil))
            #expect(try await node.log.append(append).place?.version == 3)
            #expect(try await node.titles() == ["Wash the car"])
            let models = ReadModels(projections: [TasksProjection()], client: node.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
            _ = try await models.rebuild { _ in }
            #expect(try await node.titles() == ["Wash the car"])
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }

    @Test func `another account neither changes nor deletes a task`() async throws {
        try await TestNode.with { node in
            let task = try await node.create("Buy milk")
            await #expect(throws: TaskRejection.notFound) { try await node.update(task.id, ["completed": "1"], by: bob) }
            await #expect(throws: TaskRejection.notFound) { _ = try await node.delete(task.id, by: bob) }
            #expect(try await node.tasks.tasks(of: ann) == [task])
            #expect(try await LogReader(client: node.client).tail() == 1)
        }
    }

    @Test func `a repeated creation under one key creates one task and returns it as it was`() async throws {
        try await TestNode.with { node in
            let key = IdempotencyKey("1", request: "create".utf8)
            let first = try await node.create("Buy milk", key: key)
            try await node.update(first.id, ["completed": "1"])
            #expect(try await node.create("Buy milk", key: key) == first)
            await #expect(throws: KeyReusedError.self) {
                _ = try await node.create("Buy tea", key: IdempotencyKey("1", request: "other".utf8))
            }
            // The key of another account is another key.
            #expect(try await node.create("Buy milk", by: bob, key: key).id != first.id)
            #expect(try await node.titles() == ["Buy milk"])
        }
    }

    @Test func `a task that is completed from the start is one append and is listed as completed`() async throws {
        try await TestNode.with { node in
            let key = IdempotencyKey("1", request: "create".utf8)
            let task = try await node.create("Buy milk", completed: "1", key: key)
            #expect(task.isCompleted)
            #expect(try await node.tasks.tasks(of: ann) == [task])
            try await node.update(task.id, ["completed": "0"])
            #expect(try await node.create("Buy milk", completed: "1", key: key) == task)
            let events = try await node.reader.read(after: 0, limit: 10)
            #expect(events.map(\.envelope.event.type) == ["TaskCreated", "TaskCompleted", "TaskReopened"])
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
        }
    }

    @Test func `a repeated deletion under one key gets the position of the first one`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            let key = IdempotencyKey("1", request: "delete".utf8)
            let position = try await node.delete(id, key: key)
            #expect(try await node.delete(id, key: key) == position)
            await #expect(throws: TaskRejection.notFound) { _ = try await node.delete(id) }
        }
    }

    @Test func `20 changes of one task at the same time all take effect, and a deletion beats the rest`() async throws {
        try await TestNode.with { node in
            let id = try await node.create("Buy milk").id
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 { group.addTask { try await node.update(id, ["title": .string("Title \(number)")]) } }
                try await group.waitForAll()
            }
            let task = try #require(try await node.tasks.tasks(of: ann).first)
            #expect(task.version == 21)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await node.delete(id) }
                for number in 0..<10 {
                    group.addTask {
                        do { try await node.update(id, ["title": .string("New \(number)")]) } catch TaskRejection.notFound {}
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await node.titles() == [])
            let last = try await LogReader(client: node.client).read(after: 0, limit: 100).last
            #expect(last?.envelope.event.type == "TaskDeleted")
        }
    }

    @Test func `a rebuild and a verification give the same rows as the appends`() async throws {
        try await TestNode.with { node in
            let deleted = try await node.create("Buy milk").id
            let changed = try await node.create("Wash the car").id
            try await node.update(changed, ["title": "Wash the bicycle", "completed": "1"])
            _ = try await node.delete(deleted)
            let before = try await node.tasks.tasks(of: ann)
            let models = ReadModels(projections: [TasksProjection()], client: node.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
            _ = try await models.rebuild { _ in }
            #expect(try await node.tasks.tasks(of: ann) == before)
            #expect(before.map(\.title) == ["Wash the bicycle"])
        }
    }
}

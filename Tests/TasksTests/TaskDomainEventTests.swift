import Encoding
import EventStore
import TestChance
import TestDatabase
import Testing

@testable import Tasks

@Suite struct `Storing the domain events of tasks` {
    private static let events: [(event: TaskDomainEvent, type: String, text: String)] = [
        (.created(TaskCreated(account: ann, title: "Buy milk")), "TaskCreated", #"{"account":7,"title":"Buy milk"}"#),
        (.renamed(TaskRenamed(title: "Buy tea")), "TaskRenamed", #"{"title":"Buy tea"}"#),
        (.completed, "TaskCompleted", "{}"), (.reopened, "TaskReopened", "{}"), (.deleted, "TaskDeleted", "{}"),
        (.erased, "TaskErased", "{}"),
    ]

    @Test func `each domain event is stored as these bytes and read from them`() throws {
        #expect(TaskDomainEvent.storedTypes.map(\.name) == Self.events.map(\.type))
        for (event, type, text) in Self.events {
            #expect(event.stored.type == type)
            #expect(event.stored.data.text == text)
            #expect(try TaskDomainEvent.decode(type, together: Array(text.utf8)) == event)
        }
    }

    @Test func `the title is personal`() {
        #expect(TaskDomainEvent.category == "task")
        #expect(TaskDomainEvent.personal.names == ["title"])
    }

    @Test(arguments: [#"{"account":7,"title":"\u0000"}"#, #"{"account":7,"title":7}"#])
    func `a task without a title that PostgreSQL can hold is refused`(text: String) {
        #expect(throws: FormatError("TaskCreated, format 1: no usable title in the stored data")) {
            try TaskDomainEvent.decode("TaskCreated", together: Array(text.utf8))
        }
    }

    @Test func `a title beside the facts is read, and an erased one is read as erased`() throws {
        for (event, type, facts) in [
            (Self.events[0].event, "TaskCreated", #"{"account":7}"#),
            (.renamed(TaskRenamed(title: "Buy milk")), "TaskRenamed", "{}"),
        ] {
            func decode(_ personal: Personal<[UInt8]>?) throws -> TaskDomainEvent {
                try TaskDomainEvent.decode(StoredEvent(type: type, format: 1, facts: Array(facts.utf8), personal: personal))
            }
            #expect(try decode(.present(Array(#"{"salt":"00","title":"Buy milk"}"#.utf8))) == event)
            let erased = try decode(.erased)
            #expect(erased != event)
            #expect((erased.stored.type, erased.stored.data.text) == (type, facts))
            #expect(throws: FormatError("\(type), format 1: no personal members in the stored data")) { try decode(nil) }
        }
        #expect(TaskDomainEvent.erased.state == ["erased": .bool(true)])
    }

    @Test func `TaskCreated stands at version 1 of a task's stream, and the others behind it`() throws {
        for (event, type, _) in Self.events {
            let isCreated = type == "TaskCreated"
            #expect(throws: FormatError("the stream is not named after a task's id")) {
                try event.check(in: StreamName("account-7"), version: isCreated ? 1 : 2)
            }
            let reason = isCreated ? "a task is created at version 1 only" : "a task is created before it is changed"
            #expect(throws: FormatError(reason)) { try event.check(in: StreamName("task-12"), version: isCreated ? 2 : 1) }
            try event.check(in: StreamName("task-12"), version: isCreated ? 1 : 2)
        }
    }

    @Test(arguments: ["task-0", "task-01", "task-", "tasks-1", "account-1", "task-1-2", "task-9223372036854775808"])
    func `a stream name that is not a task's is refused`(stream: String) {
        #expect(TaskID(stream: StreamName(stream)) == nil)
        #expect(TaskID(rawValue: 12).stream.description == "task-12")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `faulty task data is decoded faithfully or refused with a named error`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for number in 0..<2_000 {
            let (_, type, text) = Self.events[number % Self.events.count]
            let data = mutations.next(of: [text])
            do {
                let event = try TaskDomainEvent.decode(type, together: data)
                try #require(
                    try TaskDomainEvent.decode(type, together: event.stored.data.utf8) == event)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }
}

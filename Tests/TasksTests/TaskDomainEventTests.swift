import Encoding
import EventStore
import TestChance
import TestDatabase
import Testing

@testable import Tasks

@Suite struct `Storing the domain events of tasks` {
    private static let events: [(event: TaskDomainEvent, type: String, text: String)] = [
        (.created(account: ann, title: .present("Buy milk")), "TaskCreated", #"{"account":7,"title":"Buy milk"}"#),
        (.renamed(title: .present("Buy tea")), "TaskRenamed", #"{"title":"Buy tea"}"#),
        (.completed, "TaskCompleted", "{}"), (.reopened, "TaskReopened", "{}"), (.deleted, "TaskDeleted", "{}"),
        (.erased, "TaskErased", "{}"),
    ]

    @Test func `each domain event is stored as these bytes and read from them, and its title is personal`() {
        #expect(TaskDomainEvent.faults(of: Self.events) == [])
        #expect(TaskDomainEvent.storedTypes.map(\.name) == Self.events.map(\.type))
        #expect(TaskDomainEvent.category == "task")
        #expect(TaskDomainEvent.personal.names == ["title"])
        #expect(TaskDomainEvent.erased.state == ["erased": .bool(true)])
        for title in [#""\u0000""#, "7"] {
            let reason = TaskDomainEvent.refusal(of: "TaskCreated", #"{"account":7,"title":\#(title)}"#)
            #expect(reason == "TaskCreated, format 1: no usable title in the stored data")
        }
    }

    @Test func `TaskCreated stands at version 1 of a task's stream, and the others behind it`() {
        for (event, type, _) in Self.events {
            let (own, other): (Int32, Int32) = type == "TaskCreated" ? (1, 2) : (2, 1)
            for stream in ["account-7", "task-01"] {
                let reason = event.refusal(in: stream, version: own)
                #expect(reason == "\(type), format 1: the stream is not named after a task's id")
            }
            let reason = type == "TaskCreated" ? "a task is created at version 1 only" : "a task is created before it is changed"
            #expect(event.refusal(in: "task-12", version: other) == "\(type), format 1: \(reason)")
            #expect(event.refusal(in: TaskID(rawValue: 12).stream.description, version: own) == nil)
        }
        #expect(TaskID(rawValue: 12).stream.description == "task-12")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `faulty task data is decoded faithfully or refused with a named error`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for number in 0..<2_000 {
            let (_, type, text) = Self.events[number % Self.events.count]
            try #require(try TaskDomainEvent.isFaithful(to: mutations.next(of: [text]), as: type))
        }
    }
}

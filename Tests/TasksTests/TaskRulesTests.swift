import Accounts
import Encoding
import EventStore
import Testing

@testable import Tasks

@Suite struct `The fields of a task` {
    private static func sentences<Value>(_ decision: @autoclosure () throws(TaskRejection) -> Value) -> [String] {
        do throws(TaskRejection) { _ = try decision() } catch {
            guard case .invalid(let errors) = error else { return ["\(error)"] }
            return errors.map { "\($0.pointer) \($0.code.rawValue) \($0.detail)" }
        }
        return []
    }

    private static let blank = "/task/title blank Title can't be blank"

    @Test(arguments: [nil, .null, "", " \n\t", "\u{2003}"] as [JSON?]) func `a new task needs a title`(field: JSON?) {
        #expect(Self.sentences(try NewTask(field.map { ["title": $0] })) == [Self.blank])
    }

    @Test func `a title that is no text, too long or with a null character is refused`() {
        func sentences(_ field: JSON) -> [String] { Self.sentences(try NewTask(["title": field])) }
        #expect(sentences(.number("7")) == ["/task/title not_a_text Title is not a text"])
        #expect(
            sentences(.string(String(repeating: "a", count: 255) + "\0")) == [
                "/task/title too_long Title is too long (maximum is 255 characters)",
                "/task/title invalid_characters Title contains a null character",
            ])
        #expect(sentences(.string(String(repeating: "a", count: 255))) == [])
    }

    @Test(
        arguments: [
            (.bool(true), true), (.number("1"), true), ("1", true), ("true", true), (.bool(false), false), (.number("0"), false),
            ("0", false), ("false", false),
        ] as [(JSON, Bool)])
    func `clients send a state as a truth value, as 1 and 0, and as a text`(field: JSON, isCompleted: Bool) throws {
        #expect(try TaskChange(["completed": field]) == TaskChange(["completed": .bool(isCompleted)]))
        #expect(try TaskChange(["completed": field]).isCompleted == isCompleted)
    }

    @Test(arguments: [.null, "", "2", "yes", .number("2"), [], [:]] as [JSON])
    func `another state is refused, with the errors of the title`(field: JSON) {
        let errors = [Self.blank, "/task/completed not_a_boolean Completed is not true or false"]
        #expect(Self.sentences(try TaskChange(["title": "", "completed": field])) == errors)
        guard field != .null else { return }
        #expect(Self.sentences(try NewTask(["completed": field])) == errors)
    }

    @Test(arguments: [nil, [:], "7", .null] as [JSON?]) func `fields that are absent change nothing`(fields: JSON?) throws {
        let change = try TaskChange(fields)
        #expect((change.title, change.isCompleted) == (nil, nil))
    }
}

@Suite struct `The rules of tasks` {
    private static func decided(_ change: JSON, by account: AccountID = ann, on task: AccountTask? = .milk) throws
        -> [TaskDomainEvent]
    {
        try decide(try TaskChange(change), of: task, by: account)
    }

    @Test func `an account creates tasks until it has 1,000`() throws {
        let new = try NewTask(["title": "Buy milk"])
        #expect(try decideCreation(of: new, by: ann, count: 999) == [.created(account: ann, title: .present("Buy milk"))])
        let error = FieldError("tasks", .tooMany, "are too many (maximum is 1000)", at: "/task")
        #expect(throws: TaskRejection.invalid(errors: [error])) { try decideCreation(of: new, by: ann, count: 1_000) }
    }

    @Test(arguments: [("1", true), (.bool(true), true), ("0", false), (.null, false)] as [(JSON, Bool)])
    func `a new task may be completed from the start`(field: JSON, isCompleted: Bool) throws {
        let new = try NewTask(["title": "Buy milk", "completed": field])
        let created = TaskDomainEvent.created(account: ann, title: .present("Buy milk"))
        #expect(try decideCreation(of: new, by: ann, count: 0) == (isCompleted ? [created, .completed] : [created]))
    }

    @Test func `a change records what is different`() throws {
        #expect(try Self.decided(["completed": "1"]) == [.completed])
        #expect(try Self.decided(["completed": "0"]) == [])
        #expect(try Self.decided(["title": "Buy milk"]) == [])
        var composed = AccountTask.milk
        composed.title = "Caf\u{E9}"
        #expect(try Self.decided(["title": "Cafe\u{301}"], on: composed).count == 1)
        #expect(
            try Self.decided(["title": "Buy tea", "completed": .bool(true)]) == [
                .renamed(title: .present("Buy tea")), .completed,
            ])
        var completed = AccountTask.milk
        completed.isCompleted = true
        #expect(try Self.decided(["completed": "0"], on: completed) == [.reopened])
    }

    @Test func `another account's task and an unknown one are the same rejection`() throws {
        #expect(throws: TaskRejection.notFound) { try Self.decided(["completed": "1"], by: bob) }
        #expect(throws: TaskRejection.notFound) { try Self.decided(["completed": "1"], on: nil) }
        for (account, task) in [(bob, AccountTask.milk), (ann, nil)] as [(AccountID, AccountTask?)] {
            #expect(throws: TaskRejection.notFound) { try decideDeletion(of: task, by: account) }
        }
        #expect(try decideDeletion(of: .milk, by: ann) == .deleted)
    }

    @Test func `each domain event changes the task and its version`() {
        var expected = AccountTask.milk
        (expected.version, expected.title) = (4, "Buy tea")
        #expect(AccountTask.milk.applying(.renamed(title: .present("Buy tea"))) == expected)
        (expected.version, expected.isCompleted) = (5, true)
        #expect(AccountTask.milk.applying(.renamed(title: .present("Buy tea")))?.applying(.completed) == expected)
        (expected.version, expected.isCompleted) = (6, false)
        #expect(
            AccountTask.milk.applying(.renamed(title: .present("Buy tea")))?.applying(.completed)?.applying(.reopened)
                == expected)
        #expect(AccountTask.milk.applying(.deleted) == nil)
    }
}

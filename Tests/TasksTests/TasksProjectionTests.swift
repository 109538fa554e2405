import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Tasks

@Suite struct `Folding the domain events of tasks` {
    private static let id = TaskID(rawValue: 12)
    private static let created = TaskDomainEvent.created(account: ann, title: .present("Buy milk"))

    private static func fold(_ events: [(TaskDomainEvent, Int32)]) -> TasksProjection.Changes {
        TasksProjection().fold(events.map { .of($0.0, in: "task-12", version: $0.1, at: 1_000) })
    }

    private static func row(version: Int32, title: String, isCompleted: Bool) -> TasksProjection.Row {
        .init(
            id: id, version: version, account: ann, createdAt: Timestamp(milliseconds: 1_000), title: title,
            isCompleted: isCompleted)
    }

    @Test func `no domain events and streams of other categories give no rows`() {
        #expect(TasksProjection().fold([]) == TasksProjection.Changes())
        #expect(TasksProjection().fold([.of(Self.created, in: "account-7", version: 1)]) == TasksProjection.Changes())
    }

    @Test func `a new task gives an open row, with its later changes of the same batch`() {
        #expect(Self.fold([(Self.created, 1)]).created == [Self.row(version: 1, title: "Buy milk", isCompleted: false)])
        let changed = Self.fold([
            (Self.created, 1), (.completed, 2), (.renamed(title: .present("Buy tea")), 3),
        ])
        #expect(changed == .init(created: [Self.row(version: 3, title: "Buy tea", isCompleted: true)]))
    }

    @Test func `changes of a task of an earlier batch leave the other columns alone`() {
        #expect(
            Self.fold([(.renamed(title: .present("Buy tea")), 2)])
                == .init(changed: [.init(id: Self.id, version: 2, title: "Buy tea")]))
        #expect(
            Self.fold([(.completed, 2), (.reopened, 3)]) == .init(changed: [.init(id: Self.id, version: 3, isCompleted: false)]))
    }

    @Test func `a deleted task keeps its row, for the erasure of its account`() {
        var row = Self.row(version: 3, title: "Buy milk", isCompleted: true)
        row.isDeleted = true
        #expect(Self.fold([(Self.created, 1), (.completed, 2), (.deleted, 3)]) == .init(created: [row]))
        #expect(
            Self.fold([(.completed, 2), (.deleted, 3)])
                == .init(changed: [.init(id: Self.id, version: 3, isCompleted: true, isDeleted: true)]))
    }

    @Test func `an erased task leaves no row`() {
        let erased = TasksProjection.Changes(erased: [Self.id])
        #expect(Self.fold([(Self.created, 1), (.completed, 2), (.erased, 3)]) == erased)
        #expect(Self.fold([(.deleted, 2), (.erased, 3)]) == erased)
    }
}

import Encoding
import EventStore
import Events
import Postgres
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `The attendances of users` {
    @Test func `a leave that changed nothing is remembered under its key on every server`() async throws {
        try await TestNode.withTwo { one, two in
            try await one.create()
            try await one.leave(1, by: 2, key: "k")
            try await two.attend(1, by: 2, key: "j")
            for node in [one, two] { try await node.leave(1, by: 2, key: "k") }
            let summary = try await one.summary(1, for: 2)
            #expect((summary.count, summary.isAttending) == (1, true))
            #expect(try await !one.summary(1, for: 3).isAttending)
            #expect(try await one.types(1, 2) == ["AttendanceAdded"])
        }
    }

    @Test func `attendees come in the order of their ids, and a cursor survives changes`() async throws {
        try await TestNode.with { node in
            try await node.create()
            for user: Int64 in [5, 3, 9, 7] { try await node.attend(1, by: user) }
            let id = EventID(rawValue: 1)
            let first = try await node.attendances.attendees(of: id, after: nil, limit: 2)
            #expect((first.users.map(\.rawValue), first.next?.rawValue) == ([3, 5], 5))
            try await node.leave(1, by: 5)
            try await node.attend(1, by: 4)
            try await node.attend(1, by: 6)
            let second = try await node.attendances.attendees(of: id, after: first.next, limit: 3)
            #expect((second.users.map(\.rawValue), second.next?.rawValue) == ([6, 7, 9], nil))
            #expect(try await node.attendees(1) == [3, 4, 6, 7, 9])
        }
    }

    @Test func `a user's attendances come newest first, without events that are not live`() async throws {
        try await TestNode.with { node in
            try await node.create(6)
            // The times must differ: they are the order.
            for event: Int64 in [1, 2, 3, 4, 5, 6] {
                try await node.attend(event, by: 2)
                try await Task.sleep(for: .milliseconds(3))
            }
            try await node.leave(2, by: 2)
            try await node.cancel(3)
            try await node.hide(4)
            #expect(try await Self.pages(node, limit: 10) == [["6", "5", "1"]])
            // A page has as many events as it may, although three of six are not live.
            #expect(try await Self.pages(node, limit: 3) == [["6", "5", "1"]])
            #expect(try await Self.pages(node, limit: 2) == [["6", "5"], ["1"]])
            try await node.attend(2, by: 2)
            #expect(try await Self.pages(node, limit: 1) == [["2"], ["6"], ["5"], ["1"]])
            #expect(try await Self.pages(node, limit: 10, user: 3) == [[]])
        }
    }

    /// The pages of a user's attendances, in turn.
    private static func pages(_ node: TestNode<AttendancesModule>, limit: Int, user: Int64 = 2) async throws -> [[String]] {
        var (pages, cursor): ([[String]], AttendanceCursor?) = ([], nil)
        for _ in 0..<20 {
            let (events, next) = try await node.attendances.events(
                attendedBy: UserID(rawValue: user), after: cursor, limit: limit)
            pages.append(events.map { $0.withJSON { String(utf8: $0) } })
            guard let next else { return pages }
            // A cursor survives the way through a client.
            let text = next.description
            cursor = AttendanceCursor(text)
            #expect(cursor == next)
        }
        Issue.record("the list does not end")
        return pages
    }

    @Test(arguments: ["", "-", "1", "1-", "-1", "a-1", "1-a", "-1-1", "1-1-1", "253402300800000-1", "9223372036854775808-1"])
    func `a text that no list wrote is no cursor`(text: String) {
        #expect(AttendanceCursor(text) == nil)
    }
}

import Encoding
import Events
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing
import Users

@testable import Attendances
@testable import EventStore

@Suite struct `Counting attendances in memory` {
    @Test func `the count of this server's attendances is right when the command returns`() async throws {
        try await TestNode.with { node in
            try await node.create(2)
            for user: Int64 in 1...5 {
                try await node.attend(1, by: user)
                #expect(node.counted(1) == Int32(user))
            }
            try await node.leave(1, by: 3)
            #expect(node.counted(1) == 4)
            #expect(node.counted(2) == 0)
            #expect(node.counted(99) == 0)
        }
    }

    @Test func `the counts follow the commits of another server`() async throws {
        try await TestNode.withTwo { one, two in
            try await one.create()
            let position = try await one.attend(1, by: 7)
            let summary = try await two.summary(1, atLeast: position)
            #expect(summary.count == 1)
            #expect(summary.position.map { $0 >= position } ?? true)
            try await eventually { two.counted(1) == 1 }
            try await two.leave(1, by: 7)
            try await eventually { one.counted(1) == 0 }
        }
    }

    @Test func `the counts are loaded from attendances of earlier runs`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, isCounting: false) { node in
                try await node.create(3)
                for user: Int64 in 1...3 { for event: Int64 in 1...user { try await node.attend(event, by: user) } }
                try await node.leave(1, by: 1)
            }
            try await TestNode.with(database) { node in
                #expect([1, 2, 3].map { node.counted($0) } == [2, 2, 1])
            }
        }
    }

    private static func rebuild(_ database: TestDatabase) async throws {
        _ = try await database.withClient(role: "log_app", connections: 4) { client in
            try await ReadModels(projections: [AttendancesProjection()], client: client, logger: .quiet).rebuild { _ in }
        }
    }

    @Test func `a rebuild that corrects the read model loads the counts again`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, isCounting: false) { node in
                try await node.create()
                try await node.attend(1, by: 1)
            }
            // The log does not have this attendance, and the rebuilt tables will not.
            _ = try await database.withClient { client in
                try await client.query("INSERT INTO attendances_v1.attendances VALUES (1, 50, 1, now())")
            }
            try await TestNode.with(database) { node in
                #expect(node.counted(1) == 2)
                try await Self.rebuild(database)
                try await eventually { node.counted(1) == 1 }
                try await node.attend(1, by: 2)
                try await eventually { node.counted(1) == 2 }
            }
        }
    }

    @Test func `the counts stay in use after a rebuild that made the same rows, and while attendances change`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                try await node.create(3)
                for user: Int64 in 1...4 { for event: Int64 in 1...2 { try await node.attend(event, by: user) } }
                @Sendable func tables() -> String? { node.counts.tables }
                for round: Int64 in 1...3 {
                    let before = tables()
                    try await Self.rebuild(database)
                    try await eventually("the comparison with the new tables") {
                        // The event 3 begins and ends to have attendances. The count of the event 1 changes.
                        try await node.attend(3, by: round)
                        try await node.leave(3, by: round)
                        try await node.attend(1, by: 100 + round)
                        #expect(node.counted(1) == 5, "the counts are out of use")
                        try await node.leave(1, by: 100 + round)
                        return tables() != before
                    }
                }
            }
        }
    }

    @Test func `more events than the limit leave the counting to PostgreSQL, until there is room again`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, isCounting: false) { node in
                try await node.create(3)
                for event: Int64 in 1...3 { try await node.attend(event, by: 1) }
                try await database.withClient(role: "log_app", connections: 4) { client in
                    let notifier = LogNotifier(client: client, listens: false, pollSeconds: 0.05, logger: .quiet)
                    let counts = InMemoryReadModel(
                        AttendanceCounts(limit: 2), client: client, notifier: notifier, roomPauseSeconds: 0.05,
                        logger: .quiet)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { await notifier.run() }
                        group.addTask { try await counts.run() }
                        defer { group.cancelAll() }
                        try await eventually { counts.state.phase == .tooSmall }
                        #expect(counts.count(of: EventID(rawValue: 1)) == nil)
                        try await node.leave(3, by: 1)
                        try await eventually { counts.count(of: EventID(rawValue: 1))?.count == 1 }
                        // A further event is too many for the counts in use.
                        try await node.attend(3, by: 1)
                        try await eventually { counts.state.phase == .tooSmall && counts.content.count == 0 }
                    }
                }
            }
        }
    }

    @Test func `the status tells the events, the bytes and the position of the counts`() async throws {
        try await TestNode.with { node in
            try await node.create(3)
            try await node.attend(1, by: 1)
            try await node.attend(1, by: 2)
            let position = try await node.attend(3, by: 1)
            var status = node.attendances.countsStatus
            #expect(status.phase == .inUse)
            #expect((status.count, status.limit, status.position) == (2, AttendanceCounts.eventLimit, position))
            #expect((24...1_000).contains(status.bytes))
            try await node.leave(3, by: 1)
            status = node.attendances.countsStatus
            #expect((status.count, status.position) == (1, position + 1))
            #expect(status.age >= .zero)
        }
    }

    // MARK: Parts of the log, without a database

    @Test(arguments: [1, 3, 6, 12, 3_145_728])
    func `the bytes of the counts are those of the places of a dictionary`(capacity: Int) {
        let places = capacity == 1 ? 2 : capacity * 4 / 3
        #expect(AttendanceCounts.bytes(capacity: capacity) == places * 12 + places / 8)
        #expect([EventID: Int32](minimumCapacity: capacity).capacity == capacity)
        // The limit of the documents, while no larger dictionary is made.
        #expect(AttendanceCounts.bytes(capacity: AttendanceCounts.eventLimit) < 80_000_000)
    }

    /// Counts that hold the log up to position 10.
    private func counts() throws -> InMemoryReadModel<AttendanceCounts> {
        let client = PostgresClient(PostgresConfiguration(url: "postgres://nowhere"), logger: .quiet)
        let notifier = LogNotifier(client: client, listens: false, logger: .quiet)
        let counts = InMemoryReadModel(AttendanceCounts(), client: client, notifier: notifier, logger: .quiet)
        let loaded = LogCursor(position: 10, id: nil)
        counts.content.apply([], through: loaded)
        counts.writer.withLock { $0.buffer = ReorderBuffer(after: loaded) }
        counts.state.enter(.inUse)
        return counts
    }

    private func added(_ user: Int64) -> AttendanceDomainEvent {
        .added(AttendanceAdded(event: EventID(rawValue: 1), user: UserID(rawValue: user)))
    }

    /// A part of the log with attendances only. Equal attendances are the same recorded event.
    private func segment(after: Int64, _ events: AttendanceDomainEvent...) -> LogSegment {
        let envelopes = events.map { event in
            EventEnvelope<any DomainEvent>(
                id: event.key.domainEventID(version: 1), stream: event.key.stream, version: 1,
                recordedAt: Timestamp(milliseconds: 0),
                metadata: Metadata(requestID: "test", actor: nil, traceID: nil), event: event)
        }
        return LogSegment(
            after: after, end: LogCursor(position: after + Int64(events.count), id: nil),
            events: zip((after + 1)..., envelopes).map { ($0, $1) })
    }

    @Test func `a part that arrives before an earlier part waits for it, and a part that overlaps is counted once`() throws {
        let counts = try counts()
        let id = EventID(rawValue: 1)
        try counts.take(segment(after: 12, added(3)))
        #expect(counts.count(of: id)?.count == 0)
        try counts.take(segment(after: 10, added(1), added(2)))
        #expect(counts.count(of: id).map { ($0.count, $0.position) } ?? (0, 0) == (3, 13))
        try counts.take(segment(after: 10, added(1), added(2), added(3), added(4)))
        try counts.take(segment(after: 10, added(1), added(2)))
        #expect(counts.count(of: id).map { ($0.count, $0.position) } ?? (0, 0) == (4, 14))
        #expect(counts.count(of: id, atLeast: 14) != nil)
        #expect(counts.count(of: id, atLeast: 15) == nil)
    }

    @Test func `an event without attendances takes no memory`() throws {
        let counts = try counts()
        let removed = AttendanceDomainEvent.removed(AttendanceRemoved(event: EventID(rawValue: 1), user: UserID(rawValue: 1)))
        try counts.take(segment(after: 10, added(1), removed))
        #expect(counts.content.count == 0)
    }
}

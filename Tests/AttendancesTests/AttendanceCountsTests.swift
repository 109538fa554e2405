import Events
import Postgres
import TestDatabase
import Testing
import Users

@testable import Attendances
@testable import EventStore

@Suite struct `Counting attendances in memory` {
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

    @Test func `the counts are loaded again after a rebuild that corrects the read model, and stay in use after any other one`()
        async throws
    {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, isCounting: false) { node in
                try await node.create(3)
                for user: Int64 in 1...4 { for event: Int64 in 1...2 { try await node.attend(event, by: user) } }
                try await node.leave(2, by: 1)
            }
            // The log does not have this attendance, and the rebuilt tables will not.
            _ = try await database.withClient { client in
                try await client.query("INSERT INTO attendances_v1.attendances VALUES (1, 50, 1, now())")
            }
            try await TestNode.with(database) { node in
                @Sendable func rebuild() async throws {
                    try await database.withClient(role: "log_app", connections: 4) { client in
                        let models = ReadModels(projections: [AttendancesProjection()], client: client, logger: .quiet)
                        _ = try await models.rebuild { _ in }
                    }
                }
                #expect([1, 2, 3].map { node.counted($0) } == [5, 3, 0])
                try await rebuild()
                try await eventually { node.counted(1) == 4 }
                @Sendable func tables() -> String? { node.counts.tables }
                for round: Int64 in 1...3 {
                    let before = tables()
                    try await rebuild()
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

    @Test func `counts and status are right when the command returns, and an event without attendances takes no memory`()
        async throws
    {
        try await TestNode.with { node in
            try await node.create(3)
            for user: Int64 in 1...5 {
                try await node.attend(1, by: user)
                #expect(node.counted(1) == Int32(user))
            }
            let position = try await node.attend(3, by: 1)
            var status = node.attendances.countsStatus
            #expect(status.phase == .inUse)
            #expect((status.count, status.limit, status.position) == (2, AttendanceCounts.eventLimit, position))
            #expect((24...1_000).contains(status.bytes))
            try await node.leave(3, by: 1)
            status = node.attendances.countsStatus
            #expect((status.count, status.position) == (1, position + 1))
            #expect(status.age >= .zero)
            #expect([2, 3, 99].map { node.counted($0) } == [0, 0, 0])
            let id = EventID(rawValue: 1)
            #expect(node.counts.count(of: id, atLeast: position + 1)?.count == 5)
            #expect(node.counts.count(of: id, atLeast: position + 2) == nil)
            // More events than the limit leave the counting to PostgreSQL.
            try await node.attend(2, by: 1)
            let small = AttendanceCounts(limit: 1)
            await #expect(throws: InMemoryLimitError.self) {
                try await node.client.withTransaction { _ = try await small.load($0, logger: .quiet) }
            }
        }
    }

    @Test(arguments: [1, 3, 6, 12, 3_145_728])
    func `the bytes of the counts are those of the places of a dictionary`(capacity: Int) {
        let places = capacity == 1 ? 2 : capacity * 4 / 3
        #expect(AttendanceCounts.bytes(capacity: capacity) == places * 12 + places / 8)
        #expect([EventID: Int32](minimumCapacity: capacity).capacity == capacity)
        // The limit of the documents, while no larger dictionary is made.
        #expect(AttendanceCounts.bytes(capacity: AttendanceCounts.eventLimit) < 80_000_000)
    }
}

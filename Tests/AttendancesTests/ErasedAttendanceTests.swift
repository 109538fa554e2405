import EventStore
import Events
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `An erased attendance` {
    @Test func `an erasure ends the attendance of a user who attended, and changes no count of one who had left`() async throws {
        try await TestNode.with { node in
            try await node.create()
            for user: Int64 in 1...3 { try await node.attend(1, by: user) }
            try await node.leave(1, by: 3)
            try await node.leave(1, by: 1)
            try await node.attend(1, by: 1)
            #expect(try await node.summary(1).count == 2)
            for (user, version) in [(2, 1), (3, 2)] as [(Int64, Int32)] {
                let key = AttendanceKey(event: EventID(rawValue: 1), user: UserID(rawValue: user))
                let erased = AttendanceDomainEvent.erased(key)
                let place = try await node.append(erased, to: key.stream, after: version)
                #expect(place.version == version + 1)
                #expect(try await node.summary(1).count == 1)
            }
            #expect(try await node.attendees(1) == [1])
            let models = ReadModels(projections: [AttendancesProjection()], client: node.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }
}

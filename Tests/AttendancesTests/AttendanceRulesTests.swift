import Encoding
import Events
import Testing
import Users

@testable import Attendances

@Suite struct `Attending and leaving an event` {
    private let event = EventID(rawValue: 12)
    private let user = UserID(rawValue: 1)

    private func attendance(_ version: Int32) -> Attendance {
        Attendance(
            key: AttendanceKey(event: event, user: user), version: version,
            attendedAt: version.isMultiple(of: 2) ? nil : Timestamp(milliseconds: 1_000))
    }

    @Test(arguments: [0, 2] as [Int32]) func `a user who does not attend gets an attendance, again too`(version: Int32) {
        #expect(
            decide(AttendEvent(event: event, by: user), on: attendance(version))
                == .added(AttendanceAdded(event: event, user: user)))
    }

    @Test func `a user who attends already changes nothing`() {
        #expect(decide(AttendEvent(event: event, by: user), on: attendance(1)) == nil)
    }

    @Test(arguments: [1, 3] as [Int32]) func `a user who attends can leave`(version: Int32) {
        #expect(
            decide(LeaveEvent(event: event, by: user), on: attendance(version))
                == .removed(AttendanceRemoved(event: event, user: user)))
    }

    @Test(arguments: [0, 2] as [Int32]) func `a user who does not attend changes nothing by leaving`(version: Int32) {
        #expect(decide(LeaveEvent(event: event, by: user), on: attendance(version)) == nil)
    }
}

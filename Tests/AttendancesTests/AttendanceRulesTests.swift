import Events
import Testing
import Users

@testable import Attendances

@Suite struct `Attending an event` {
    private let command = AttendEvent(event: EventID(rawValue: 12), by: UserID(rawValue: 1))

    @Test func `a user who does not attend yet gets an attendance`() throws {
        let added = try decide(command, eventExists: true, attendsAlready: false)
        #expect(added == AttendanceAdded(event: EventID(rawValue: 12), user: UserID(rawValue: 1)))
    }

    @Test func `a user who attends already changes nothing`() throws {
        #expect(try decide(command, eventExists: true, attendsAlready: true) == nil)
    }

    @Test(arguments: [false, true]) func `attending an unknown event is rejected`(attendsAlready: Bool) {
        #expect(throws: AttendanceRejection.unknownEvent) {
            try decide(command, eventExists: false, attendsAlready: attendsAlready)
        }
    }
}

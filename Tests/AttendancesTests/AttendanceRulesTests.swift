import Encoding
import Events
import Testing
import Users

@testable import Attendances

@Suite struct `Attending and leaving an event` {
    private let id = EventID(rawValue: 12)
    private let user = UserID(rawValue: 1)
    private let owner = UserID(rawValue: 2)

    private func attendance(_ version: Int32, of user: UserID? = nil) -> Attendance {
        Attendance(
            key: AttendanceKey(event: id, user: user ?? self.user), version: version,
            attendedAt: version.isMultiple(of: 2) ? nil : Timestamp(milliseconds: 1_000))
    }

    private func event(isCancelled: Bool = false, isHidden: Bool = false) -> Event {
        let details = EventDetails(
            name: "Party", coordinates: Coordinates(lat: 0, lon: 0), startedAt: Timestamp(milliseconds: 0))
        return Event(id: id, owner: owner, version: 1, details: details, isCancelled: isCancelled, isHidden: isHidden)
    }

    private func attend(_ event: Event?, _ version: Int32, by user: UserID? = nil) throws(EventRejection)
        -> AttendanceDomainEvent?
    {
        try decideAttending(attendance(version, of: user), of: event)
    }

    private func leave(_ event: Event?, _ version: Int32, by user: UserID? = nil) throws(EventRejection) -> AttendanceDomainEvent?
    {
        try decideLeaving(attendance(version, of: user), of: event)
    }

    @Test func `a user who does not attend gets an attendance, again too, and one who attends changes nothing`() throws {
        for version: Int32 in [0, 2] {
            #expect(try attend(event(), version) == .added(AttendanceKey(event: id, user: user)))
        }
        #expect(try attend(event(), 1) == nil)
    }

    @Test(arguments: [0, 1] as [Int32]) func `no user can attend an event that is unknown, hidden or cancelled`(version: Int32) {
        #expect(throws: EventRejection.notFound) { try attend(nil, version) }
        #expect(throws: EventRejection.notFound) { try attend(event(isHidden: true), version) }
        #expect(throws: EventRejection.hidden) { try attend(event(isHidden: true), version, by: owner) }
        #expect(throws: EventRejection.cancelled) { try attend(event(isCancelled: true), version) }
    }

    @Test(arguments: [1, 3] as [Int32]) func `a user who attends can leave, whatever happened to the event`(version: Int32) throws
    {
        for event in [event(), event(isCancelled: true), event(isHidden: true), nil] {
            #expect(try leave(event, version) == .removed(AttendanceKey(event: id, user: user)))
        }
    }

    @Test func `a user who does not attend changes nothing by leaving, and learns nothing about a hidden event`() throws {
        for version: Int32 in [0, 2] {
            #expect(try leave(event(), version) == nil)
            #expect(try leave(event(isCancelled: true), version) == nil)
        }
        #expect(throws: EventRejection.notFound) { try leave(nil, 0) }
        #expect(throws: EventRejection.notFound) { try leave(event(isHidden: true), 0) }
        #expect(throws: EventRejection.hidden) { try leave(event(isHidden: true), 0, by: owner) }
    }
}

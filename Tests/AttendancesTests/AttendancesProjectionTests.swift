import Encoding
import EventStore
import Events
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `Folding the domain events of attendances` {
    @Test func `each first attendance gives one new row, in the order of the log, also if it ends in its batch`() {
        let changes = AttendancesProjection().fold([added(12, 2, 1), added(12, 1, 1), added(11, 2, 1), removed(12, 2, 2)])
        #expect(changes.created == [row(12, 2, 2, nil), row(12, 1, 1, 1), row(11, 2, 1, 1)])
        #expect(changes.changed.isEmpty)
    }

    @Test func `an attendance of an earlier batch gives one changed row, as the batch leaves it`() {
        let changes = AttendancesProjection().fold([removed(12, 2, 2), removed(12, 1, 2), added(12, 2, 3)])
        #expect(changes.created.isEmpty)
        #expect(changes.changed == [row(12, 2, 3, 3), row(12, 1, 2, nil)])
    }

    /// - Parameter seconds: the time of the recorded event since which the user attends
    private func row(_ event: Int64, _ user: Int64, _ version: Int32, _ seconds: Int64?) -> Attendance {
        Attendance(
            key: AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user)), version: version,
            attendedAt: seconds.map { Timestamp(milliseconds: $0 * 1_000) })
    }

    private func added(_ event: Int64, _ user: Int64, _ version: Int32) -> EventEnvelope<AttendanceDomainEvent> {
        envelope(.added(AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user))), version)
    }

    private func removed(_ event: Int64, _ user: Int64, _ version: Int32) -> EventEnvelope<AttendanceDomainEvent> {
        envelope(.removed(AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user))), version)
    }

    /// Recorded as many seconds after 1970 as the version says.
    private func envelope(_ event: AttendanceDomainEvent, _ version: Int32) -> EventEnvelope<AttendanceDomainEvent> {
        .of(event, in: event.key.stream.description, version: version, at: Int64(version) * 1_000)
    }
}

import Encoding
import EventStore
import Events
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `Folding the domain events of attendances` {
    private typealias Key = AttendanceKey

    @Test func `each attendance gives one row as the batch leaves it, numbered and with the growth of its event`() {
        let changes = AttendancesProjection().fold([
            Key(12, 2).added(1), Key(12, 1).added(1), Key(11, 2).added(1), Key(12, 2).removed(2), Key(12, 3).removed(4),
            Key(12, 4).added(3),
        ])
        let expected = [
            change(Key(12, 1), 1, seconds: 1, number: 2, growth: 2), change(Key(11, 2), 1, seconds: 1, number: 1, growth: 1),
            change(Key(12, 2), 2, seconds: nil, number: 3, growth: 1), change(Key(12, 3), 4, seconds: nil, number: 4, growth: 0),
            change(Key(12, 4), 3, seconds: 3, number: 5, growth: 1),
        ]
        #expect(changes == Dictionary(uniqueKeysWithValues: expected.map { ($0.attendance.key, $0) }))
    }

    @Test func `an erasure takes an attendee from the event if the user attended, and none if the user had left`() {
        for (version, growth) in [(2, -1), (3, 0)] as [(Int32, Int64)] {
            #expect(AttendancesProjection().fold([Key(9, 5).erased(version)])[Key(9, 5)]?.growth == growth)
        }
    }

    /// - Parameter seconds: the time of the recorded event since which the user attends
    private func change(
        _ key: AttendanceKey, _ version: Int32, seconds: Int64?, number: Int64, growth: Int64
    ) -> AttendancesProjection.Change {
        let attendedAt = seconds.map { Timestamp(milliseconds: $0 * 1_000) }
        return AttendancesProjection.Change(
            attendance: Attendance(key: key, version: version, attendedAt: attendedAt), number: number, growth: growth)
    }
}
